// The page of the operations. Without a validator address, Swagger UI asks no other host.
SwaggerUIBundle({
  url: document.currentScript.src.replace("static/schema.js", "schema/openapi.json"),
  dom_id: "#operations",
  deepLinking: true,
  validatorUrl: null,
  defaultModelsExpandDepth: 0,
  docExpansion: "list",
});

"""The answerer that calls a language model, at any address that speaks OpenAI's protocols."""

"""Walls: what a server, a firewall or a fresh installation shows is told as such, and is no word of the company's."""

from typing import Any

import pytest

from tasks.companies.claims import SourceClaims
from tasks.companies.company_match import Wall
from tasks.companies.facts import company_facts
from tasks.companies.question import company_question
from tasks.companies.sources.website import WebsiteSource
from tasks.errors import NotAllowed, SourceFailed
from tests.cases import cases
from tests.companies_servers.site import ALPHA, SITE, document
from tests.tasks.companies.sources.conftest import claimed, values_of
from tests.web.behaviours import page, redirect
from tests.web.server import LoopbackServer, Reply

DOMAIN = "alpha-robotics.com"
ABOUT = '<meta name="description" content="{}">'


@pytest.fixture
def server(server: LoopbackServer, monkeypatch: pytest.MonkeyPatch) -> LoopbackServer:
    monkeypatch.setenv("DILIGENCE_WEBSITE_URL", f"{server.url}/{{domain}}")
    return server


def _facts(server: LoopbackServer, reply: Reply, domain: str = DOMAIN) -> SourceClaims | str | None:
    """What the source says of a site whose home page is that one: claims, nothing, or why it could not be asked."""
    server.pages = {f"/{domain}": reply}
    try:
        return WebsiteSource().facts(domain)
    except SourceFailed as error:
        return error.message


def _html(body: str, head: str = "", title: str = "", language: str = "en") -> Reply:
    markup = f'<!doctype html><html lang="{language}"><head><meta charset="utf-8"><title>{title}</title>{head}</head>'
    return page(f"{markup}<body>{body}</body></html>")


WALLS: dict[str, tuple[Wall, Reply]] = {
    "access denied": (
        Wall.DENIED,
        _html(
            "You don't have permission to access this server. Reference #18",
            ABOUT.format("Access Denied"),
            "Access Denied",
        ),
    ),
    "access denied at the edge, naming the address": (
        Wall.DENIED,
        _html(
            '<h1>Access Denied</h1>You don\'t have permission to access "http://alpha-robotics.com/" on this server.'
            "<p>Reference #18.2d351ab8.1557333295.a4e16ab<p>https://errors.edgesuite.net/18.2d351ab8.1557333295.a4e16ab",
            title="Access Denied",
        ),
    ),
    "cookies": (
        Wall.CONSENT,
        _html(
            "<div>Accept all</div>",
            '<meta property="og:description" content="We value your privacy. We and our partners store cookies.">',
            "Before you continue",
        ),
    ),
    "cookies, in German, with the company's name": (
        Wall.CONSENT,
        _html(
            "<p>Alpha Robotics verwendet Cookies. Mit „Alle akzeptieren“ stimmen Sie zu.</p>"
            "<button>Alle akzeptieren</button><button>Ablehnen</button><a href='/datenschutz'>Datenschutz</a>",
            ABOUT.format("Bitte wählen Sie Ihre Cookie-Einstellungen."),
            "Alpha Robotics | Einstellungen",
            "de",
        ),
    ),
    "cookies, in French": (
        Wall.CONSENT,
        _html(
            "<h1>Votre vie privée</h1><p>Avec votre accord, nos 812 partenaires et nous utilisons des cookies.</p>"
            "<form action='/consent'><input type=submit value='Tout accepter'></form>",
            title="Avant de continuer",
            language="fr",
        ),
    ),
    "cookies, in Japanese": (
        Wall.CONSENT,
        _html(
            "<p>当サイトではクッキーを使用しています。続行するには同意してください。</p><button>同意する</button>",
            title="続行する前に",
            language="ja",
        ),
    ),
    "checking the browser": (
        Wall.BROWSER,
        _html(
            "Checking your browser before accessing the site. Enable JavaScript and cookies to continue",
            title="Just a moment...",
        ),
    ),
    "checking the browser, in German": (
        Wall.BROWSER,
        _html(
            "<h1>alpha-robotics.com</h1><p>Ihre Verbindung wird geprüft. Aktivieren Sie JavaScript.</p>",
            title="Nur einen Moment…",
            language="de",
        ),
    ),
    "checking the browser, in Japanese": (
        Wall.BROWSER,
        _html(
            "<p>続行するには JavaScript を有効にしてください。</p>",
            title="しばらくお待ちください...",
            language="ja",
        ),
    ),
    "a challenge of Cloudflare's without words": (
        Wall.BROWSER,
        _html(
            "<script>window._cf_chl_opt={cType:'managed'};</script>"
            "<script src='/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1?ray=1'></script>",
            title="Un instant…",
            language="fr",
        ),
    ),
    "a challenge of AWS WAF": (
        Wall.BROWSER,
        _html(
            '<div id="challenge-container"></div><script>window.gokuProps = {"key":"a"};</script>'
            '<script src="https://1.token.awswaf.com/1/challenge.js"></script>'
        ),
    ),
    "a captcha of DataDome": (
        Wall.BROWSER,
        _html(
            "<p id=cmsg>Please enable JS and disable any ad blocker</p>"
            "<script data-cfasync=false src='https://ct.captcha-delivery.com/c.js'></script>",
            title="alpha-robotics.com",
        ),
    ),
    "a block page of HUMAN": (
        Wall.BROWSER,
        _html("<h1>Press &amp; hold to confirm you are a human</h1><div id=px-captcha></div>", title="Alpha Robotics"),
    ),
    "an app's shell": (Wall.BROWSER, _html("<div id=root></div><script src=/app.js></script>")),
    "a fresh WordPress": (
        Wall.DEFAULT,
        _html(
            "Hello world!",
            '<meta property="og:site_name" content="My WordPress">' + ABOUT.format("Just another WordPress site"),
            "My WordPress – Just another WordPress site",
        ),
    ),
    "a fresh WordPress with the company's name": (
        Wall.DEFAULT,
        _html(
            "<a href=/sample-page>Sample Page</a><h2><a href=/hello-world>Hello world!</a></h2><p>Welcome to "
            "WordPress. This is your first post. Edit or delete it, then start writing!</p><p>Powered by WordPress</p>",
            '<meta name="generator" content="WordPress 6.5.2">',
            "Alpha Robotics – Just another WordPress site",
        ),
    ),
    "a fresh WordPress, in German": (
        Wall.DEFAULT,
        _html(
            "<a href=/beispiel-seite>Beispiel-Seite</a><p>Willkommen bei WordPress. Dies ist dein erster Beitrag.</p>",
            '<meta name="generator" content="WordPress 6.5">' + ABOUT.format("Eine weitere WordPress-Website"),
            "Meine Website",
            "de",
        ),
    ),
    "a fresh WordPress, in Japanese": (
        Wall.DEFAULT,
        _html(
            "<p>WordPress へようこそ。こちらは最初の投稿です。</p>",
            ABOUT.format("Just another WordPress site"),
            "Alpha Robotics",
            "ja",
        ),
    ),
    "nginx": (
        Wall.DEFAULT,
        _html(
            "<h1>Welcome to nginx!</h1><p>If you see this page, the nginx web server is successfully installed and "
            "working. Further configuration is required.</p><p><em>Thank you for using nginx.</em></p>",
            title="Welcome to nginx!",
        ),
    ),
    "Apache, with two pages of text": (
        Wall.DEFAULT,
        _html(
            "<h1>It works!</h1>" + "<p>This is the default welcome page used to test the operation of the Apache2 "
            "server after installation on Ubuntu systems.</p>" * 20,
            title="Apache2 Ubuntu Default Page: It works",
        ),
    ),
    "IIS": (
        Wall.DEFAULT,
        _html(
            '<a href="http://go.microsoft.com/fwlink/?linkid=66138"><img src="iisstart.png" alt="IIS"></a>',
            title="IIS Windows Server",
        ),
    ),
    "Plesk, naming the domain": (
        Wall.DEFAULT,
        _html(
            "<h1>alpha-robotics.com</h1><p>This is the default page of Plesk.</p><p>Log in to create a website.</p>",
            title="Domain Default page",
        ),
    ),
    "cPanel": (
        Wall.DEFAULT,
        _html(
            "<p>If you are the owner of this website, please contact your hosting provider.</p>",
            '<meta http-equiv="x" content="/cgi-sys/defaultwebpage.cgi">',
            "alpha-robotics.com — Default Web Site Page",
        ),
    ),
    "a shop behind a password": (
        Wall.LOGIN,
        _html(
            "<h1>Opening soon</h1><form action=/password><input type=password name=p><button>Enter</button></form>",
            title="Opening soon",
        ),
    ),
    "a login, in French": (
        Wall.LOGIN,
        _html(
            "<form><label>Identifiant</label><input name=u><input type='password' name=p></form>",
            title="Connexion",
            language="fr",
        ),
    ),
    "maintenance, in Japanese": (
        Wall.UNNAMED,
        _html("<p>ただいまメンテナンス中です。</p>", title="メンテナンス中", language="ja"),
    ),
    "a refusal, in German": (
        Wall.UNNAMED,
        _html(
            "<h1>Zugriff verweigert</h1><p>Ihre Anfrage wurde abgelehnt.</p>",
            ABOUT.format("Zugriff verweigert"),
            "Zugriff verweigert",
            "de",
        ),
    ),
    "a blank installation": (Wall.UNNAMED, _html("<h1>It works!</h1>")),
}


@cases("name", WALLS)
def test_a_wall_is_told_as_such_and_nothing_is_claimed_of_it(server: LoopbackServer, name: str) -> None:
    wall, reply = WALLS[name]

    answer = _facts(server, reply)

    if wall.shuts_out:
        assert answer == wall.sentence(DOMAIN)
    else:
        assert isinstance(answer, SourceClaims)
        assert answer == SourceClaims([], [wall.sentence(DOMAIN)])


OWN: dict[str, tuple[str, Reply]] = {
    "a tiny page": (
        "Robots that weld.",
        _html("<p>Welding robots.</p>", ABOUT.format("Robots that weld."), "Alpha Robotics"),
    ),
    "a page with a banner on cookies": (
        "Robots that weld.",
        _html(
            "<p>Alpha Robotics builds welding robots in Graz.</p><p>We use cookies.</p><button>Accept</button>",
            ABOUT.format("Robots that weld."),
            "Welding robots",
        ),
    ),
    "an app's shell that says what it is": (
        "Robots that weld.",
        _html(
            "<noscript>You need to enable JavaScript to run this app.</noscript>"
            "<div id=root></div><script src=/a.js></script>",
            ABOUT.format("Robots that weld."),
            "AlphaRobotics",
        ),
    ),
    "an ordinary page behind Cloudflare": (
        "Robots that weld.",
        _html(
            "<p>Welding robots.</p><script src='/cdn-cgi/challenge-platform/scripts/jsd/main.js'></script>",
            ABOUT.format("Robots that weld."),
            "Alpha Robotics",
        ),
    ),
    "a site about WordPress": (
        "Alpha Robotics builds WordPress sites.",
        _html("<p>We build sites.</p>", ABOUT.format("Alpha Robotics builds WordPress sites."), "WordPress agency"),
    ),
    "a page with a login of its own": (
        "Robots that weld.",
        _html(
            "<p>Our robots.</p><form><input type=password></form>", ABOUT.format("Robots that weld."), "Alpha Robotics"
        ),
    ),
    "another name than the domain's, with much to read": (
        "Robots that weld.",
        _html(f"<p>{'Omega welds hulls, bridges and towers. ' * 30}</p>", ABOUT.format("Robots that weld."), "Omega"),
    ),
    "another name than the domain's, with many links": (
        "Robots that weld.",
        _html(
            "".join(
                f"<a href='/{word}'>{word}</a> " for word in ("hulls", "bridges", "towers", "jobs", "press", "news")
            ),
            ABOUT.format("Robots that weld."),
            "Omega",
        ),
    ),
}


@cases("name", OWN)
def test_a_page_of_the_companys_own_keeps_its_description(server: LoopbackServer, name: str) -> None:
    description, reply = OWN[name]

    answer = _facts(server, reply)

    assert isinstance(answer, SourceClaims)
    assert values_of(answer)["description"] == description


def test_a_companys_name_is_found_with_its_umlaut(server: LoopbackServer) -> None:
    answer = _facts(server, _html("<p>Mehl.</p>", ABOUT.format("Mehl seit 1899."), "Müller Mühle"), "mueller.de")

    assert isinstance(answer, SourceClaims)
    assert answer.claims


def test_the_unchanged_tagline_of_its_software_is_not_claimed_of_a_large_site(server: LoopbackServer) -> None:
    text = "<p>Alpha Robotics builds welding robots in Graz.</p>" * 200
    head = '<meta name="generator" content="WordPress 6.5">' + ABOUT.format("Just another WordPress site")

    answer = _facts(server, _html(text, head, "Alpha Robotics"))

    assert not isinstance(answer, str)
    assert answer is None or "description" not in {claim.field for claim in answer.claims}


@pytest.mark.parametrize(
    ("status", "name", "value"),
    [
        (403, "cf-mitigated", "challenge"),
        (503, "cf-mitigated", "challenge"),
        (202, "x-amzn-waf-action", "challenge"),
        (405, "x-amzn-waf-action", "captcha"),
        (429, "x-vercel-mitigated", "challenge"),
    ],
)
def test_a_challenge_named_in_the_head_is_told_and_not_asked_again(
    server: LoopbackServer, status: int, name: str, value: str
) -> None:
    server.pages = lambda _: Reply(b"<p>Wait</p>", status, headers={"Content-Type": "text/html", name: value})

    with pytest.raises(SourceFailed, match="requires a browser"):
        WebsiteSource().facts(DOMAIN)

    assert server.paths() == ["/robots.txt", f"/{DOMAIN}"]


def test_a_challenge_is_not_a_company_that_is_not_known(
    home: Any, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DILIGENCE_FACT_SOURCES", "website")
    server.pages = {f"/{DOMAIN}": WALLS["checking the browser"][1]}

    with pytest.raises(SourceFailed, match="asks for a browser"):
        company_facts(DOMAIN)


def test_a_site_that_sends_to_its_own_consent_host_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_WEB_ALLOW", "127.0.0.1,::1")
    with LoopbackServer({}) as server:
        port = server.url.rpartition(":")[2]
        monkeypatch.setenv("DILIGENCE_WEBSITE_URL", f"http://{{domain}}:{port}")
        server.pages = lambda asked: (
            document("<p>Alpha welds.</p>" * 99)
            if asked.headers["host"].startswith("consent.")
            else redirect(f"http://consent.alpha.localhost:{port}/choose")
            if asked.path == "/"
            else Reply(status=404)
        )

        with pytest.raises(SourceFailed, match="choice of cookies"):
            WebsiteSource().facts("alpha.localhost")


def _refresh(content: str) -> Reply:
    return page(f'<html><head><meta charset="utf-8"><meta http-equiv="refresh" content="{content}"></head></html>')


@pytest.mark.parametrize(
    "content", ["0; url=/alpha.example", "0;URL='/alpha.example'", "3, /alpha.example", "0;/alpha.example"]
)
def test_a_refresh_is_followed(server: LoopbackServer, content: str) -> None:
    server.pages = {**SITE, "/alpha.example": _refresh(content.replace("alpha.example", "alpha.example/en")),
                    "/alpha.example/en": document("<p>Pumps.</p>", ALPHA)}  # fmt: skip

    answer = claimed(WebsiteSource())

    assert values_of(answer)["name"] == "Alpha GmbH"


def test_a_late_refresh_and_one_for_browsers_without_scripts_are_not_followed(server: LoopbackServer) -> None:
    head = (
        '<noscript><meta http-equiv="refresh" content="0; url=/noscript"></noscript>'
        '<meta http-equiv="refresh" content="600; url=/expired">'
    )
    server.pages = {"/alpha.example": document("<p>Alpha makes pumps.</p>", ALPHA, head=head)}

    assert WebsiteSource().facts("alpha.example") is not None
    assert server.paths() == ["/robots.txt", "/alpha.example"]


def test_a_refresh_leads_no_further_than_a_redirect(server: LoopbackServer, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = {"": "a", "/a": "b", "/b": "a"}
    server.pages = {f"/alpha.example{at}": _refresh(f"0; url=/alpha.example/{to}") for at, to in steps.items()}
    with pytest.raises(SourceFailed, match="redirects more than"):
        WebsiteSource().facts("alpha.example")

    with LoopbackServer({"/": document("<p>Secret.</p>", ALPHA)}) as private:
        server.pages = {"/alpha.example": _refresh(f"0; url={private.url}/")}
        with pytest.raises(NotAllowed):
            WebsiteSource().facts("alpha.example")
        assert private.paths() == []

        monkeypatch.setenv("DILIGENCE_WEB_ALLOW", "127.0.0.1")
        answer = claimed(WebsiteSource())
    assert not answer.claims
    assert "leads to another address" in answer.warnings[0]


def test_a_refresh_to_another_scheme_leads_nowhere(server: LoopbackServer) -> None:
    server.pages = {"/alpha.example": _refresh("0; url=file:///etc/passwd")}

    assert WebsiteSource().facts("alpha.example") is None


def test_a_wall_is_no_source_of_an_answer(home: Any, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_FACT_SOURCES", "website")
    links = "<a href='/alpha.example/products'>Products</a>"
    server.pages = {
        "/alpha.example": document(f"<p>Alpha makes things. {links}</p>", ALPHA),
        "/alpha.example/products": WALLS["a captcha of DataDome"][1],
    }
    assert (
        "ad blocker"
        not in company_question("Which products are there, JS or ad blocker?", None, "alpha.example").answer
    )

    server.pages = {"/alpha.example": WALLS["a fresh WordPress, in Japanese"][1]}
    answer = company_question("What is just another WordPress site?", None, "alpha.example").answer
    assert Wall.DEFAULT.sentence("alpha.example") in answer
    assert "Just another" not in answer

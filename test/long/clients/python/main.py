"""Uses the client that openapi-python-client generates. Prints what it saw as JSON."""

import json
import os
import re
from urllib.parse import parse_qs, urlsplit

from petstore import AuthenticatedClient
from petstore.api.pets import create_pet, get_pet, list_pets
from petstore.models import NewPet, PetStatus
from petstore.types import UNSET


def next_cursor(response):
    """Returns the cursor of the next page, or None on the last page."""
    link = re.search(r'<([^>]*)>; rel="next"', response.headers.get("link", ""))
    return link and parse_qs(urlsplit(link[1]).query)["cursor"][0]


def client(key):
    return AuthenticatedClient(base_url=os.environ["BASE_URL"], token=key)


store = client(os.environ["API_KEY"])
pet = create_pet.sync(
    client=store,
    body=NewPet(name="Python", category_id=9223372036854775807, status=PetStatus.PENDING),
    idempotency_key=os.environ["IDEMPOTENCY_KEY"],
)

listed = 0
cursor = UNSET
while cursor is not None:
    page = list_pets.sync_detailed(client=store, limit=2, status=PetStatus.PENDING, cursor=cursor)
    listed += page.parsed.count(pet)
    cursor = next_cursor(page)

invalid = create_pet.sync(client=store, body=NewPet(name="", category_id=1))
unauthorized = list_pets.sync(client=client("wrong"))
missing = get_pet.sync(1, client=store)

print(
    json.dumps(
        {
            "categoryId": str(pet.category_id),
            "listed": listed,
            "got": get_pet.sync(pet.id, client=store) == pet,
            "errors": [error.code for error in (invalid, unauthorized, missing)],
        }
    )
)

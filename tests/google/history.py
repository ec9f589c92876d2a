"""One change to the world: who is told of it, worked out from what each user saw before and sees after."""

from typing import TYPE_CHECKING

from tests.google.items import Item

if TYPE_CHECKING:
    from tests.google.world import World


class Changing:
    """Notes who could see what before a change and after it, and logs the difference."""

    def __init__(self, world: "World", item: Item, *, deep: bool) -> None:
        self._world, self._item, self._deep = world, item, deep

    def __enter__(self) -> None:
        self._world.lock.acquire()
        self._before = self._seen()
        self._members = self._world.members(self._item.drive)

    def __exit__(self, *_: object) -> None:
        world = self._world
        world.forget()
        self._item.version += 1
        after = self._seen() if self._item.id in world.items else {}
        for id_, (one, before, drive) in self._before.items():
            now = after[id_][1] if id_ in after else frozenset()
            whole = one is self._item and one.id != one.drive
            told = before | now if whole else before ^ now
            if not one.drive:
                # An owner's log tells of all in My Drive; another's of what that user was given, and of access.
                told = frozenset(user for user in told if user in before ^ now or world.in_corpus(user, one))
            if drive and drive != one.drive:
                world.log(one, before, drive, self._members)
            if told:
                world.log(one, told, one.drive, self._members | world.members(one.drive))
        world.lock.release()

    def _seen(self) -> dict[str, tuple[Item, frozenset[str], str | None]]:
        items = self._world.below(self._item) if self._deep else [self._item]
        return {one.id: (one, self._world.readers(one), one.drive) for one in items}

"""Archives (.zip, .7z) as folders of the index: a layer over any drive, and the readers of archives.

`members` decides what in an archive is shown and why the rest is left out; `zip` and `seven_zip` read the two formats;
`archive` is an open archive with those inside it, and the pool that keeps archives open while they are needed; `drive`
is the layer.
"""

"""Archives (.zip, .7z) as folders of the index: a layer over any drive, and the readers of archives.

`zip` decides what in an archive is shown and why the rest is left out, and reads .zip; `seven_zip` reads .7z;
`archive` is an open archive with those inside it, and the pool that keeps archives open while they are needed; `drive`
is the layer.
"""

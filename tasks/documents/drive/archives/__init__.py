"""Archives (.zip, .7z) as folders of the index: a layer over any drive, and the reading of archives itself.

`members` says what of an archive is shown and why the rest is left out; `zip` and `seven_zip` read the two kinds;
`archive` is one that is open, with those inside it; `opened` keeps archives open while they are needed; `drive` is the
layer.
"""

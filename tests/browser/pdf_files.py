"""Small real PDF files."""

from __future__ import annotations

from io import BytesIO

from pypdf import PdfWriter
from reportlab.pdfgen.canvas import Canvas


def pdf(*pages: str, title: str = "") -> bytes:
    """A file with one line of text on each page; an empty line makes a page that only has a picture."""
    written = BytesIO()
    canvas = Canvas(written)
    canvas.setTitle(title)
    for line in pages:
        if line:
            canvas.drawString(72, 720, line)
        else:
            canvas.rect(72, 600, 100, 100)
        canvas.showPage()
    canvas.save()
    return written.getvalue()


def encrypted(file: bytes, *, password: str = "") -> bytes:
    """The same, encrypted; without a password any reader may open it, but not change it."""
    writer = PdfWriter(clone_from=BytesIO(file))
    writer.encrypt(password, "owner", algorithm="AES-256")
    written = BytesIO()
    writer.write(written)
    return written.getvalue()

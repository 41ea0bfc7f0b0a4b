"""How a model learned: one frame per saved step, as MP4 (H.264) and GIF.

Axes, plane and colour scales are the same in all frames: limits are taken over all of them, the plane from
the last. What does not move is drawn once; a frame is a copy of it with the rest drawn on top, and goes
straight into the encoder, so that memory does not grow with the number of frames.

    render_video(subject, "embeddings", Path("videos"), ("mp4", "gif"))    videos/embeddings.mp4 and .gif
"""

from glassformer.pictures.video.render import choose_films, render_video

__all__ = ["choose_films", "render_video"]

// What is written on canvases: text -> the size in px that it was drawn in last.
window.drawnType = {};
const write = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
  const { a, b } = this.getTransform();
  const size = Number.parseFloat(/([\d.]+)px/.exec(this.font)[1]);
  if (text.trim()) window.drawnType[text] = (size * Math.hypot(a, b)) / window.devicePixelRatio;
  return write.call(this, text, ...place);
};

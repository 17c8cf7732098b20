// The canvas of a graph with its camera, its mini-map and the card that stays beside a node: all that changes from frame
// to frame, and therefore is not rendered but moved.
import { THEME_CHANGED } from "../../ui/theme";
import { centre, firstView, fit, pan, reveal, zoom, type Camera, type Size } from "./camera";
import { attachGestures } from "./gestures";
import { NODE_HEIGHT, NODE_WIDTH, Scene, drawMiniMap, type SceneInput } from "./scene";

const MINI_MS = 250; // the mini-map follows states this often at most
const FIRST_SCALE = 0.45; // at which names can be read
const NEAR_SCALE = 0.9; // a job that was searched for is shown at least so large
const REST_MS = 120; // a camera that was moved within this is still moving
const CARD_WIDTH = 320;
const ZOOM_STEP = 1.3;

export interface StageElements {
  canvas: HTMLCanvasElement;
  mini: HTMLCanvasElement;
  frame: HTMLElement; // on the mini-map: what is seen
}

export interface StageListener {
  hover: (index: number) => void; // -1: no job is pointed at
  tap: (index: number, byTouch: boolean) => void;
  moved: (camera: Camera | undefined) => void; // undefined: all of it is shown
}

export class Stage {
  private readonly scene: Scene;
  private input: SceneInput | undefined;
  private card: HTMLElement | null = null;
  private camera: Camera = { x: 0, y: 0, scale: 1 };
  private size: Size = { width: 0, height: 0 };
  private following = true; // nobody has moved the camera: a graph that grows is looked at anew
  private movedMs = 0;
  private frame = 0;
  private mini = { scale: 1, left: 0, top: 0 };
  private miniTimer: ReturnType<typeof setTimeout> | undefined;
  private readonly undo: (() => void)[] = [];

  constructor(
    private readonly elements: StageElements,
    private readonly listener: StageListener,
    first?: Camera | undefined, // where to look; without one at all of it
  ) {
    if (first !== undefined) {
      this.camera = first;
      this.following = false;
    }
    const { canvas } = elements;
    this.scene = new Scene(canvas);
    const resized = new ResizeObserver(() => this.resized());
    resized.observe(canvas);
    const themed = () => {
      this.scene.themeChanged();
      this.drawMini();
      this.draw();
    };
    addEventListener(THEME_CHANGED, themed);
    const detach = attachGestures(canvas, {
      camera: () => this.camera,
      scaleMin: () => this.scaleMin(),
      move: (camera) => this.move(camera),
      hover: (x, y) => listener.hover(this.hit(x, y)),
      tap: (x, y, byTouch) => listener.tap(this.hit(x, y), byTouch),
    });
    this.undo.push(detach, () => resized.disconnect(), () => removeEventListener(THEME_CHANGED, themed));
  }

  close(): void {
    for (const undo of this.undo) undo();
    cancelAnimationFrame(this.frame);
    clearTimeout(this.miniTimer);
  }

  /** What there is to draw from now on. */
  show(input: SceneInput): void {
    const old = this.input;
    this.input = input;
    if (old?.layout !== input.layout) {
      if (this.following) this.lookFirst();
      this.drawMini();
    } else if (old.now !== input.now) this.miniTimer ??= setTimeout(() => this.drawMini(), MINI_MS);
    this.draw();
  }

  /** The card of the job that its data-index names; null: there is none. */
  pin(card: HTMLElement | null): void {
    this.card = card;
    this.placeCard();
  }

  // ---- the camera ----

  fitAll(): void {
    if (this.input !== undefined) this.move(fit(this.input.layout, this.size));
    this.following = true;
    this.listener.moved(undefined);
  }

  zoomBy(steps: number): void {
    const middle = { x: this.size.width / 2, y: this.size.height / 2 };
    this.move(zoom(this.camera, ZOOM_STEP ** steps, middle, this.scaleMin()));
  }

  panBy(dx: number, dy: number): void {
    this.move(pan(this.camera, dx, dy));
  }

  /** Moves as little as needed for the job to be seen. */
  reveal(index: number): void {
    const box = this.boxOf(index);
    if (box !== undefined) this.move(reveal(this.camera, box, this.size));
  }

  /** The job in the middle, near enough to be read. */
  centreOn(index: number): void {
    const box = this.boxOf(index);
    if (box === undefined) return;
    const scale = Math.max(this.camera.scale, NEAR_SCALE);
    this.move(centre(this.camera, box.x + box.width / 2, box.y + box.height / 2, this.size, scale));
  }

  /** To a place of the mini-map, in pixels of it. */
  goTo(x: number, y: number): void {
    const { scale, left, top } = this.mini;
    this.move(centre(this.camera, (x - left) / scale, (y - top) / scale, this.size));
  }

  private lookFirst(): void {
    if (this.input === undefined) return;
    this.move(firstView(this.input.layout, this.size, FIRST_SCALE, this.input.graph.nodes.length));
    this.following = true;
    this.listener.moved(undefined);
  }

  private move(camera: Camera): void {
    this.following = false;
    this.camera = camera;
    this.movedMs = performance.now();
    this.listener.moved(camera);
    this.draw();
  }

  private scaleMin(): number {
    return this.input === undefined ? 0.01 : Math.min(0.3, fit(this.input.layout, this.size).scale * 0.7);
  }

  private resized(): void {
    const { canvas } = this.elements;
    this.size = { width: canvas.clientWidth, height: canvas.clientHeight };
    this.scene.resize(this.size);
    if (this.following) this.lookFirst();
    this.draw();
  }

  // ---- jobs ----

  private boxOf(index: number) {
    const layout = this.input?.layout;
    if (layout === undefined || index < 0) return undefined;
    return { x: layout.x[index]!, y: layout.y[index]!, width: NODE_WIDTH, height: NODE_HEIGHT };
  }

  /** The job at a place of the canvas, -1: none. */
  private hit(x: number, y: number): number {
    const layout = this.input?.layout;
    if (layout === undefined || x < 0) return -1;
    const [worldX, worldY] = [this.camera.x + x / this.camera.scale, this.camera.y + y / this.camera.scale];
    for (let i = layout.x.length - 1; i >= 0; i--) {
      const [dx, dy] = [worldX - layout.x[i]!, worldY - layout.y[i]!];
      if (dx >= 0 && dx <= NODE_WIDTH && dy >= 0 && dy <= NODE_HEIGHT) return i;
    }
    return -1;
  }

  // ---- drawing ----

  draw(): void {
    if (this.frame !== 0) return;
    this.frame = requestAnimationFrame((timeMs) => {
      this.frame = 0;
      if (this.input === undefined) return;
      const exact = this.scene.draw(this.input, this.camera, this.size, timeMs, timeMs - this.movedMs < REST_MS);
      this.placeCard();
      this.placeFrame();
      if (!exact || this.input.lights.active(timeMs)) this.draw();
    });
  }

  private drawMini(): void {
    clearTimeout(this.miniTimer);
    this.miniTimer = undefined;
    if (this.input !== undefined) this.mini = drawMiniMap(this.elements.mini, this.input);
  }

  private placeFrame(): void {
    const { scale, left, top } = this.mini;
    const { style } = this.elements.frame;
    style.transform = `translate(${left + this.camera.x * scale}px, ${top + this.camera.y * scale}px)`;
    style.width = `${(this.size.width / this.camera.scale) * scale}px`;
    style.height = `${(this.size.height / this.camera.scale) * scale}px`;
  }

  /** Beside its node: below, or above where there is no room. */
  private placeCard(): void {
    const card = this.card;
    const box = card === null ? undefined : this.boxOf(Number(card.dataset.index));
    if (card === null || box === undefined) return;
    const { camera, size } = this;
    const [x, y] = [(box.x - camera.x) * camera.scale, (box.y - camera.y) * camera.scale];
    const below = y + box.height * camera.scale + 10;
    const above = y - 10 - card.offsetHeight;
    const fitsBelow = below + card.offsetHeight + 8 < size.height;
    const top = fitsBelow || above < 8 ? Math.min(below, size.height - card.offsetHeight - 8) : above;
    const left = Math.min(x, size.width - Math.min(CARD_WIDTH, size.width - 16) - 8);
    card.style.transform = `translate(${Math.max(8, left)}px, ${Math.max(8, top)}px)`;
  }
}

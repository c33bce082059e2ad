/** The measured heights (px) of rows. A row that was never drawn is assumed to be as high as the first one. */
export class Heights {
  private usual = 0;
  private readonly others = new Map<string, number>();

  constructor(private readonly guess: number) {}

  of(key: string): number {
    return this.others.get(key) ?? (this.usual || this.guess);
  }

  /** Returns whether the height is new. */
  learn(key: string, height: number): boolean {
    if (height <= 0 || Math.abs(height - this.of(key)) < 0.5) {
      this.usual ||= height;
      return false;
    }
    if (!this.usual) this.usual = height;
    else this.others.set(key, height);
    return true;
  }
}

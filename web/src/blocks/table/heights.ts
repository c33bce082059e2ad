/** Heights (px) of rows that have been seen; others are taken to be as high as the first one was. */
export class Heights {
  private usual = 0;
  private readonly others = new Map<string, number>();

  constructor(private readonly guess: number) {}

  of(key: string): number {
    return this.others.get(key) ?? (this.usual || this.guess);
  }

  /** Whether that is something new. */
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

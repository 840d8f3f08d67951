// A generator of which the next items can be seen before they are taken.

export type LookAhead<Item> = {
  take(): Promise<Item | undefined>
  /** Up to this many of the next items. */
  peek(count: number): Promise<readonly Item[]>
}

export function lookAhead<Item>(items: AsyncGenerator<Item, void>): LookAhead<Item> {
  const next: Item[] = []
  async function fill(count: number): Promise<void> {
    while (next.length < count) {
      const { value, done } = await items.next()
      if (done) return
      next.push(value)
    }
  }
  return {
    async take() {
      await fill(1)
      return next.shift()
    },
    async peek(count) {
      await fill(count)
      return next.slice(0, count)
    },
  }
}

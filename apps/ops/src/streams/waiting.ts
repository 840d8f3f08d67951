// What waits for its counterpart, in order; when it gets too much, the first ones are given up.

const maxItems = 1_000
const maxBytes = 64 << 20

export type PendingItems<Item> = {
  add(item: Item): Promise<void>
  /** The first that fits, which waits no longer. */
  take(fits: (item: Item) => boolean): Item | undefined
  /** Gives up all that is left. */
  end(): Promise<void>
}

/** @param giveUp is told of each item whose counterpart did not come */
export function createPendingItems<Item>(
  sizeOf: (item: Item) => number,
  giveUp: (item: Item) => Promise<void>,
): PendingItems<Item> {
  const items: Item[] = []
  let bytes = 0
  async function shrinkTo(count: number, size: number): Promise<void> {
    while (items.length > count || bytes > size) {
      const first = items.shift()
      if (first === undefined) return
      bytes -= sizeOf(first)
      await giveUp(first)
    }
  }
  return {
    async add(item) {
      items.push(item)
      bytes += sizeOf(item)
      await shrinkTo(maxItems, maxBytes)
    },
    take(fits) {
      const index = items.findIndex(fits)
      const [item] = index < 0 ? [] : items.splice(index, 1)
      if (item !== undefined) bytes -= sizeOf(item)
      return item
    },
    end: () => shrinkTo(0, 0),
  }
}

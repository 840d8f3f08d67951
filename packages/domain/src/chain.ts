// A list that grows without being copied, so that a fold takes the same time for the ten-thousandth event as for the first.

/** The item that was added last, and those before it; `null` when there is none. */
export type Chain<Item> = { readonly last: Item; readonly before: Chain<Item> } | null

/** Whether an item is in it. */
export function isInChain<Item>(item: Item, chain: Chain<Item>): boolean {
  for (let link = chain; link !== null; link = link.before) if (link.last === item) return true
  return false
}

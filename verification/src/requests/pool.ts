// What earlier responses named: ids, cursors, revisions and positions, so that later requests reach existing things.
import type { Random } from '../campaign/random.ts'
import { oneOf } from './mutations.ts'

export type Pool = {
  /** Remembers what a successful response names. */
  learn(path: string, owner: string, headers: Readonly<Record<string, unknown>>, body: unknown): void
  /** Mostly what the owner got. `undefined` when there is none yet. */
  pick(kind: string, by: { readonly random: Random; readonly owner: string }): string | undefined
}

/** Of a kind, by each owner. */
const kept = 30
const kinds = /payment-methods|payments|addresses|products|refunds|logs|jobs|webhook-deliveries/g

/** What the ids in the response of a path name: its last word for a resource. */
export const kindOf = (path: string) => path.match(kinds)?.at(-1) ?? 'others'

export function createPool(): Pool {
  const entries = new Map<string, Map<string, string[]>>()
  const add = (kind: string, owner: string, value: unknown) => {
    if (typeof value !== 'string') return
    const byOwner = entries.get(kind) ?? new Map<string, string[]>()
    entries.set(kind, byOwner.set(owner, [...(byOwner.get(owner) ?? []), value].slice(-kept)))
  }
  return {
    learn(path, owner, headers, body) {
      const { data = body, meta, next_cursor } = Object(body)
      add('etags', owner, headers.etag)
      add('positions', owner, headers['x-event-position'])
      add('cursors', owner, Object(meta).next_cursor ?? next_cursor)
      for (const { id, position, amount_capturable_cents, amount_received_cents } of [data]
        .flat()
        .slice(0, 5)
        .map(Object)) {
        add(kindOf(path), owner, id)
        if (amount_capturable_cents > 0) add('capturable payments', owner, id)
        if (amount_received_cents > 0) add('received payments', owner, id)
        add('positions', owner, position)
        if (kindOf(path) === 'refunds') add('payments of refunds', owner, /payments\/([^/]+)/.exec(path)?.[1])
      }
    },
    pick(kind, { random, owner }) {
      const byOwner = entries.get(kind)
      if (!byOwner) return undefined
      const own = random.isIn(0.8) ? byOwner.get(owner) : undefined
      return oneOf(random, own ?? [...byOwner.values()].flat())
    },
  }
}

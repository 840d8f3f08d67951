// PayPal posts its notifications, in whatever order and however often.
import type { PaypalEvent } from './events.ts'
import type { SignedEvent } from './signatures.ts'

export type Delivery = {
  /** How often each is posted. */
  readonly times?: number
  readonly order?: 'as_given' | 'reversed'
}

/** @returns the status that each post was answered with */
export async function deliver(
  url: string,
  {
    events,
    sign,
    times = 1,
    order = 'as_given',
  }: Delivery & {
    readonly events: readonly PaypalEvent[]
    readonly sign: (event: PaypalEvent) => SignedEvent
  },
): Promise<readonly number[]> {
  const statuses: number[] = []
  for (let round = 0; round < times; round++) {
    for (const event of order === 'reversed' ? events.toReversed() : events) {
      const { headers, body } = sign(event)
      const response = await fetch(url, { method: 'POST', headers, body })
      await response.arrayBuffer()
      statuses.push(response.status)
    }
  }
  return statuses
}

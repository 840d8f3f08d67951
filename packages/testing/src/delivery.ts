// Notifications as providers send them: signed, one after the other, and as often as they like.

export type SignedEvent = { readonly headers: Readonly<Record<string, string>>; readonly body: string }

/**
 * Posts events in the order given, all of them `times` times over, each signed when it is sent.
 * @returns the statuses of the answers
 */
export async function deliverEvents<Event>(
  url: string,
  {
    events,
    sign,
    times = 1,
  }: {
    readonly events: readonly Event[]
    readonly sign: (event: Event) => SignedEvent
    readonly times?: number | undefined
  },
): Promise<number[]> {
  const statuses: number[] = []
  for (let round = 0; round < times; round++) {
    for (const event of events) {
      const { headers, body } = sign(event)
      const response = await fetch(url, { method: 'POST', headers, body })
      await response.arrayBuffer()
      statuses.push(response.status)
    }
  }
  return statuses
}

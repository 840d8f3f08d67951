// Sends a provider's notifications as Stripe does: in no order, sometimes late or twice, and again until a 2xx.
import { setTimeout as pause } from 'node:timers/promises'
import type { Notification } from '../judge/observations.ts'
import type { Random } from '../random.ts'

/** Signed for each request. */
export type Sign = () => { readonly headers: Readonly<Record<string, string>>; readonly body: string }

export type Notifier = {
  readonly notifications: readonly Notification[]
  send(about: Pick<Notification, 'id' | 'provider' | 'type' | 'intent_id'>, sign: Sign): void
  /** How many notifications have no 2xx yet, or have a copy under way. */
  pending(): number
}

const requestTimeoutMs = 10_000
const firstPauseMs = 200
const longestPauseMs = 2_000
const doubledShare = 0.15

/** @param over ends all sending */
export function createNotifier({
  urls,
  random,
  over,
}: {
  readonly urls: readonly string[]
  readonly random: Random
  readonly over: AbortSignal
}): Notifier {
  const notifications: Notification[] = []
  let pending = 0

  async function sendOnce(notification: Notification, sign: Sign): Promise<boolean> {
    const { headers, body } = sign()
    const url = `${urls[random.between(0, urls.length - 1)]}/webhooks/${notification.provider}`
    notification.sent++
    try {
      const signal = AbortSignal.any([over, AbortSignal.timeout(requestTimeoutMs)])
      const response = await fetch(url, { method: 'POST', headers, body, signal })
      await response.arrayBuffer()
      if (response.ok) notification.accepted++
      return response.ok
    } catch {
      return false
    }
  }

  async function sendUntilAccepted(notification: Notification, sign: Sign, delayMs: number): Promise<void> {
    pending++
    await pause(delayMs)
    for (let pauseMs = firstPauseMs; !over.aborted; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      if (await sendOnce(notification, sign)) break
      await pause(pauseMs * (0.5 + random.next()))
    }
    pending--
  }

  function delayMs(): number {
    const when = random.weighted({ atOnce: 50, soon: 30, late: 20 })
    if (when === 'atOnce') return random.between(0, 50)
    return when === 'soon' ? random.between(50, 1_000) : random.between(1_000, 6_000)
  }

  return {
    notifications,
    send(about, sign) {
      const notification: Notification = { ...about, sent: 0, accepted: 0 }
      notifications.push(notification)
      void sendUntilAccepted(notification, sign, delayMs())
      if (random.isIn(doubledShare)) void sendUntilAccepted(notification, sign, delayMs())
    },
    pending: () => pending,
  }
}

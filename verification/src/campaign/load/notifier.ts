// Sends a provider's notifications as providers do: in no order, sometimes late or twice, and again until a 2xx.

import { setTimeout as pause } from 'node:timers/promises'
import { anySignal } from '@paylog/runtime/anySignal'
import type { Notification } from '../judge/observations.ts'
import type { Random } from '../random.ts'
import {
  doubledNotificationShare,
  forgedNotificationShare,
  lostNotificationMs,
  lostNotificationShare,
  notificationDelay,
  notificationDelayMs,
} from './settings.ts'

/** Signed for each request. */
export type Sign = () => { readonly headers: Readonly<Record<string, string>>; readonly body: string }

export type Notifier = {
  readonly notifications: readonly Notification[]
  /** @param about `canBeLost`: the system can ask the provider, before it is sent again */
  send(about: Pick<Notification, 'id' | 'provider' | 'type'> & { readonly canBeLost?: boolean }, sign: Sign): void
  /** How many notifications have no 2xx yet, or have a copy under way. */
  pending(): number
  /** How many got lost at first. */
  lost(): number
}

const requestTimeoutMs = 10_000
const firstPauseMs = 200
const longestPauseMs = 2_000

/** @param options `urls` of `command-api`, may be filled later; `over` ends all sending */
export function createNotifier(options: {
  readonly urls: { readonly command: readonly string[] }
  readonly random: Random
  readonly over: AbortSignal
}): Notifier {
  const { urls, random, over } = options
  const notifications: Notification[] = []
  let [pending, lost] = [0, 0]

  async function sendOnce(notification: Notification, sign: Sign): Promise<boolean> {
    const { headers, body } = sign()
    const origin = urls.command[random.between(0, urls.command.length - 1)]
    notification.sent++
    try {
      const signal = anySignal(over, AbortSignal.timeout(requestTimeoutMs))
      const url = `${origin}/webhooks/${notification.provider}`
      const response = await fetch(url, { method: 'POST', headers, body, signal })
      await response.arrayBuffer()
      if (response.ok) notification.accepted++
      return response.ok
    } catch {
      return false
    }
  }

  async function sendUntilAccepted(notification: Notification, sign: Sign): Promise<void> {
    pending++
    const [least, most] = notificationDelayMs[random.weighted(notificationDelay)]
    await pause(random.between(least, most))
    for (let pauseMs = firstPauseMs; !over.aborted; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      if (await sendOnce(notification, sign)) break
      await pause(pauseMs * (0.5 + random.next()))
    }
    pending--
  }

  const record = (about: Pick<Notification, 'id' | 'provider' | 'type' | 'kind'>): Notification => {
    const notification = { ...about, sent: 0, accepted: 0 }
    notifications.push(notification)
    return notification
  }

  return {
    notifications,
    send({ canBeLost = false, ...about }, sign) {
      const isLost = canBeLost && random.isIn(lostNotificationShare)
      const notification = record({ ...about, kind: 'sent' })
      if (isLost) {
        lost++
        const again = pause(lostNotificationMs, undefined, { signal: over })
        return void again.then(() => sendUntilAccepted(notification, sign)).catch(() => undefined)
      }
      void sendUntilAccepted(notification, sign)
      if (random.isIn(doubledNotificationShare)) void sendUntilAccepted(notification, sign)
      if (!random.isIn(forgedNotificationShare)) return
      const forged = record({ ...about, id: `${about.id}x`, kind: 'forged' })
      void sendOnce(forged, () => {
        const { headers, body } = sign()
        return { headers, body: body.replaceAll(about.id, forged.id) }
      })
    },
    pending: () => pending,
    lost: () => lost,
  }
}

// What the fake providers of a campaign have in common.
import { setTimeout as pause } from 'node:timers/promises'
import type { Intent } from '../judge/observations.ts'
import type { Random } from '../random.ts'
import type { Notifier } from './notifier.ts'
import { type Call, startProviderProxy } from './providerProxy.ts'
import { payerPauseMs } from './settings.ts'

export type ProviderContext = {
  readonly stack: AsyncDisposableStack
  readonly random: Random
  readonly notifier: Notifier
}

export type CampaignProvider = {
  /** The variables that make all apps use it. */
  readonly env: Readonly<Record<string, string>>
  readonly faults: Readonly<Record<string, number>>
  books(): Intent[]
  /** Lets the payer of a payment act that a client has got. Repeated calls have no effect. */
  pay(payment: PayablePayment): void
  /** Sends the notifications of what has happened since the last look. */
  look(): void
  /** Without, no calls fail and nobody begins to pay. */
  setRunning(isRunning: boolean): void
  /** Payers at work. */
  busy(): number
}

/** A payment that a client has got, with what its payer needs. */
export type PayablePayment = {
  readonly payment_id: string
  readonly intent_id: string
  readonly client_secret: string
  readonly amount_cents: number
  readonly currency: string
}

/**
 * @param fake `isWrite`: whether a call changes something
 * @returns the origin that the system uses, what a provider needs of `CampaignProvider`, and a function with which a payer acts
 *   in a while
 */
export async function startProvider(
  { stack, random }: ProviderContext,
  fake: { readonly origin: string; readonly isWrite: (call: Call) => boolean },
) {
  const { origin, faults, setFaulty } = await startProviderProxy(stack, { ...fake, random })
  let isRunning = true
  let busy = 0
  return {
    origin,
    common: {
      faults,
      setRunning(next: boolean) {
        isRunning = next
        setFaulty(next)
      },
      busy: () => busy,
    },
    payLater(act: () => unknown): void {
      if (!isRunning) return
      busy++
      void pause(random.between(...payerPauseMs))
        .then(act)
        .finally(() => {
          busy--
        })
    },
  }
}

/** Not twice for the same payment. */
export function once<Item extends { readonly payment_id: string }>(act: (item: Item) => void): (item: Item) => void {
  const known = new Set<string>()
  return (item) => {
    if (known.has(item.payment_id)) return
    known.add(item.payment_id)
    act(item)
  }
}

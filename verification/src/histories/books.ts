// The books of a provider, in one form for all of them.

import type { Provider } from '@paylog/providers/provider'
import type { SignedEvent } from '@paylog/testing/fakeServer'

/** A payment at a provider. */
export type Account = {
  readonly state: 'none' | 'open' | 'processing' | 'authorized' | 'paid' | 'canceled'
  readonly charges: number
  readonly received_cents: number
  /** Succeeded refunds. */
  readonly refunded_cents: number
  /** Refunds that have succeeded or may, by our id; null for those that were not made here. */
  readonly refunds: readonly { readonly refund_id: string | null; readonly amount_cents: number }[]
  /** Of its disputes, oldest first. */
  readonly disputes: readonly ('open' | 'won' | 'lost')[]
  /** Intents that somebody could still pay. */
  readonly payable: number
}

/** What others than Paylog do. Most have no effect in most states. */
export const providerActs = [
  'pay',
  'fail',
  'begin to pay',
  'complete',
  'cancel elsewhere',
  'refund elsewhere',
  'end a refund',
  'dispute',
  'end a dispute',
] as const
export type ProviderAct = (typeof providerActs)[number]

/** A payment, as its payer knows it. */
export type Paid = { readonly payment_id: string; readonly isManual: boolean }

export type Books = {
  /** A new adapter, as a process has it. */
  createProvider(): Provider
  /**
   * @param flavour chooses between variants
   * @returns whether it was possible
   */
  act(what: ProviderAct, payment: Paid, flavour: number): boolean
  /** Notifications so far, oldest first. Each call of `sign` makes a delivery of it. */
  readonly notifications: readonly { readonly what: string; readonly sign: () => SignedEvent }[]
  accountOf(payment_id: string): Account
  /** Whether searches find new intents at once. */
  delaySearch?(isLate: boolean): void
}

/** The fakes end with their test. */
export const noTest = { teardown: () => undefined }
const timeoutMs = 10_000
export const common = { timeoutMs, maxPerSecond: 0 }
export const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0)

/** Runs an act that the fake rejects in some states. */
export function possible(act: () => unknown): boolean {
  try {
    act()
    return true
  } catch {
    return false
  }
}

/** The state of the intent that counts: a paid one before others, a canceled one last. */
export function stateOf(
  statuses: readonly string[],
  states: Readonly<Record<string, Account['state']>>,
): Account['state'] {
  const all = statuses.map((status) => states[status] ?? 'open')
  return (
    (['paid', 'authorized', 'processing', 'open', 'canceled'] as const).find((state) => all.includes(state)) ?? 'none'
  )
}

export function stateOfMoney(money: {
  readonly received_cents: number
  readonly capturable_cents: number
  readonly isPending: boolean
  readonly isOpen: boolean
  readonly isKnown: boolean
}): Account['state'] {
  if (money.received_cents > 0) return 'paid'
  if (money.capturable_cents > 0) return 'authorized'
  if (money.isPending) return 'processing'
  if (money.isOpen) return 'open'
  return money.isKnown ? 'canceled' : 'none'
}

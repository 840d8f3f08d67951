// What a campaign's load consists of: rates, shares and times in one place. Shares are relative to each other, or parts of 1.
import type { Endpoint } from '../judge/observations.ts'

/** New payments a second, with these pauses. */
export const usualLoad = 5
/** Between two new payments. */
export const paymentPauseMs = [60, 340] as const
/** Between two other activities: addresses, methods, products, lists, attempts to read what belongs to others. */
export const otherPauseMs = [100, 500] as const
export const maxInFlight = 60
/** How long clients go on repeating their requests after a pause started. */
export const finishMs = 60_000

export const owner = { 'user 1': 30, 'user 2': 30, guest: 20, anonymous: 20 }
export const provider = { stripe: 45, sandbox: 20, paypal: 20, 'authorize-net': 15 }
export const otherActivity = { address: 30, method: 15, product: 10, list: 20, intrusion: 25 }
/** Of what can have an Idempotency-Key. */
export const keyedShare = 0.7
/** Of requests with a key: sent twice at once, or again later. */
export const doubledShare = 0.1
export const repeatedShare = 0.15
/** Clients that lose patience. */
export const impatientShare = 0.05
export const manualCaptureShare = 0.15
export const afterPayment = { nothing: 35, read: 25, refund: 25, cancel: 10, refresh: 5 }
export const refund = { all: 40, part: 25, twoParts: 15, sameKeyTwice: 20 }
/** Payments that another system makes at Stripe, relative to ours. */
export const foreignShare = 0.06

export const stripePayer = { succeed: 66, fail: 12, retry: 8, cancel: 8, nothing: 6 }
export const paypalPayer = { succeed: 80, nothing: 20 }
export const authorizeNetPayer = { succeed: 85, nothing: 15 }
export const sandboxOutcome = { succeeded: 70, failed: 14, canceled: 10, none: 6 }
export const payerPauseMs = [0, 2_000] as const
/**
 * Authorize.Net refunds a part only after the settlement. It settles once a day; Paylog gives up a search through more than
 * 200 payerOutcomes, and searches those of the last hour.
 */
export const settlementPauseMs = 30_000

/** Of calls that change something at a provider. */
export const callFault = { none: 72, lostRequest: 4, lostResponse: 8, blackout: 2, late: 14 }
/** Longer than a call may take, so that the outcome stays unknown to the caller. */
export const blackoutMs = 14_000
export const lateMs = [200, 2_000] as const

export const notificationDelay = { atOnce: 50, soon: 30, late: 20 }
export const notificationDelayMs = { atOnce: [0, 50], soon: [50, 1_000], late: [1_000, 6_000] } as const
export const doubledNotificationShare = 0.15
/** Copies with another id, and so with a wrong signature. */
export const forgedNotificationShare = 0.03
/** Of notifications that a payer has paid or approved, where Paylog can ask the provider. */
export const lostNotificationShare = 0.03
/**
 * Paylog then asks after this time, and less and less often. So the provider sends a lost one again, as providers do for days, and
 * within the time that the judge gives.
 */
export const reconcileAfter = '5s'
export const lostNotificationMs = 20_000

/** With different modes and patterns, so that a webhook at the wrong endpoint can be seen. */
export const endpoints: readonly Endpoint[] = [
  { name: '1', mode: 'canonical', events: 'all' },
  { name: '2', mode: 'raw', events: 'all' },
  { name: '3', mode: 'canonical', events: 'payment.succeeded,payment.refunded' },
  { name: '4', mode: 'raw', events: 'paypal:*,sandbox:*' },
]
export const rejectedWebhookShare = 0.02
export const checkpointInterval = '2s'

// Which payments have something at their provider, as their events tell it.
import type { Recorded } from '@paylog/event-store/codec/codec'

export type PaymentSelection = {
  /** By the id of the payment that of its provider, in the order in which the payments' calls were begun. */
  readonly payments: ReadonlyMap<string, string>
  /** Takes the next event of the log into account. */
  take(event: Recorded): void
}

/**
 * A payment is chosen when its first create call, or a later one, was begun since then. One whose call was refused has
 * nothing at the provider; one that succeeded or was canceled is at its end.
 * @param options `since` in ms; `all` keeps the payments that are at their end
 */
export function createPaymentSelection({
  since,
  all,
}: {
  readonly since: number | undefined
  readonly all: boolean
}): PaymentSelection {
  const payments = new Map<string, string>()
  // Every event brings its own copy of the name.
  const providers = new Map<string, string>()
  const nameOf = (provider: string) => {
    const known = providers.get(provider) ?? provider
    providers.set(known, known)
    return known
  }
  return {
    payments,
    take(event) {
      switch (event.type) {
        case 'PaymentInitiated':
        case 'PaymentAttemptStarted': {
          const { payment_id, provider_id, occurred_at } = event.data
          if (since === undefined || Date.parse(occurred_at) >= since) payments.set(payment_id, nameOf(provider_id))
          return
        }
        case 'PaymentAttemptFailed':
          if (event.data.refusal !== null) payments.delete(event.data.payment_id)
          return
        case 'PaymentSucceeded':
        case 'PaymentCanceled':
          if (!all) payments.delete(event.data.payment_id)
          return
      }
    },
  }
}

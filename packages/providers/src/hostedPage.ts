// A payment page that Paylog serves in place of a provider: what it shows of an intent, and what its payer decides there.
import type { PaymentStatus } from '@paylog/domain/payments/payment'

/** What a payer decides: to pay, now or ten seconds later, or not to. */
export type PayerDecision = 'pay' | 'later' | 'decline'

/** An intent, as its provider knows it. Amounts are in minor units. */
export type PageState = {
  readonly payment_id: string
  readonly status: PaymentStatus
  readonly amount_cents: number
  /** Upper case. */
  readonly currency: string
  /** Whether a decision is still possible. */
  readonly is_payable: boolean
  /** Whether the payer has to confirm before the provider takes the money, as in 3-D Secure. */
  readonly asks_first: boolean
  /** Authorized, and not captured. */
  readonly capturable_cents: number
  readonly received_cents: number
  readonly refunded_cents: number
  /** Changes with every report about the intent. */
  readonly version: string
}

export type HostedPage = {
  /** The public origin of the API that serves the page. */
  readonly origin: string
  /**
   * Whether the key is the one in the page's address, so that whoever opens it got that address. Costs no query.
   * @param intentId as in the address
   */
  isAddress(intentId: string, key: string): boolean
  /** The intent's state; null when the provider does not know it. @throws ProviderError `unknown` */
  read(intentId: string): Promise<PageState | null>
  /**
   * Takes what the payer decides, and the notifications about it, in one transaction. Changes nothing when the intent is not
   * payable, or no longer what the payer has seen: a second click does nothing.
   * @param seen the `version` that the page showed
   * @param isManual whether the money is only authorized
   * @returns the state afterwards; null when the provider does not know the intent
   * @throws ProviderError `unknown`
   */
  decide(
    intentId: string,
    by: { readonly decision: PayerDecision; readonly seen: string; readonly isManual: boolean },
  ): Promise<PageState | null>
  /**
   * Posts the notifications that are due to their receiver, those of an intent in order. One that is not accepted is posted again
   * later, by this process or another one.
   * @param receiver its URL
   * @param onFailure gets the reason why one was not accepted
   * @throws ProviderError `unknown`
   */
  deliver(receiver: string, onFailure: (error: unknown) => void): Promise<void>
}

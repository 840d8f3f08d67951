// The merchant account at Authorize.Net: its API, how long one request may take there, and its currency.
import type { Pace } from '../pacing.ts'
import { ProviderError } from '../provider.ts'
import { withDeadline } from '../within.ts'
import { merchantDetails } from './answers.ts'
import { type Account, type Api, createApi, type Deadline, startDeadline } from './api.ts'
import { createTransactionLists, type TransactionLists } from './transactionLists.ts'

export type Gateway = {
  readonly api: Api
  readonly lists: TransactionLists
  /** For all calls together that one request needs. */
  readonly timeoutMs: number
  /** For a search through the lists: longer when nobody waits for it. */
  searchMs(): number
  /**
   * The one currency that the account has, which no transaction names.
   * @returns `null` when it has several, or when the gateway does not say
   */
  currency(deadline: Deadline): Promise<string | null>
}

/** It is worth no more: without it everything else about a payment is known all the same. */
const currencyTimeoutMs = 2_000

export function createGateway(options: {
  readonly account: Account
  readonly apiBase: string
  readonly timeoutMs: number
  readonly pace: Pace
}): Gateway {
  const api = createApi(options)
  let known: string | null | undefined
  let pendingRead: Promise<void> | undefined

  async function readCurrency(): Promise<void> {
    const { body } = await api.once({
      method: 'getMerchantDetails',
      members: {},
      response: merchantDetails,
      deadline: startDeadline(currencyTimeoutMs),
    })
    const [currency = null, ...others] = body.currencies
    known = others.length > 0 ? null : currency
  }

  return {
    api,
    lists: createTransactionLists(api, options.timeoutMs),
    timeoutMs: options.timeoutMs,
    searchMs: () => Math.max(options.timeoutMs, options.pace.patienceMs()),
    async currency(deadline) {
      if (known !== undefined) return known
      // A question that failed is asked again with the next transaction.
      pendingRead ??= readCurrency()
        .catch((error: unknown) => {
          if (!(error instanceof ProviderError)) throw error
        })
        .finally(() => {
          pendingRead = undefined
        })
      await withDeadline(deadline.leftMs(), pendingRead, () => undefined)
      return known ?? null
    },
  }
}

// What Authorize.Net's error codes mean for a call.
import { ProviderError, type ProviderErrorKind } from '../provider.ts'

/**
 * The gateway answered, and the answer is no. What it said may hold data of a payer, so that it is read by accessors,
 * which whatever writes an error into a log does not see.
 */
export class AuthorizeNetError extends ProviderError {
  readonly #answer: unknown
  readonly #text: string

  constructor({ code, text, response }: { readonly code: string; readonly text: string; readonly response: unknown }) {
    const kind = kindOf(code, text)
    super(kind, code, messages[kind], { rateLimit: code === tooBusy ? { retryAfterMs: null } : null })
    this.#answer = response
    this.#text = text
  }

  /** The whole answer, since some refusals carry what was asked for. */
  get response(): unknown {
    return this.#answer
  }

  /** The gateway's own words: to be read by us, never to be shown. */
  get text(): string {
    return this.#text
  }
}

/** «The server is currently too busy, please try again later.» */
const tooBusy = 'E00053'

/** «The record cannot be found»: the customer that a call names, or one of the customer's methods. */
export function isNotFound(error: unknown): boolean {
  return error instanceof AuthorizeNetError && error.code === 'E00040'
}

/** What is not listed is a refusal of the request itself. */
const kinds: Readonly<Record<string, ProviderErrorKind>> = {
  /** «An error occurred during processing. Please try again.» */
  E00001: 'unknown',
  // Who we are was not accepted, or may not do this (yet).
  E00005: 'unavailable',
  E00006: 'unavailable',
  E00007: 'unavailable',
  E00008: 'unavailable',
  E00009: 'unavailable',
  E00010: 'unavailable',
  E00011: 'unavailable',
  E00059: 'unavailable',
  E00124: 'unavailable',
  [tooBusy]: 'unavailable',
  // In maintenance.
  E00104: 'unavailable',
  /** «The transaction was unsuccessful.» */
  E00027: 'declined',
}

/** There is no code for a currency that the merchant account does not take; only the words tell. */
function kindOf(code: string, text: string): ProviderErrorKind {
  const kind = kinds[code] ?? 'rejected'
  return (kind === 'rejected' || kind === 'declined') && /currency/i.test(text) ? 'currency' : kind
}

const messages: Readonly<Record<ProviderErrorKind, string>> = {
  declined: 'Authorize.Net declined',
  rejected: 'Authorize.Net refused the request',
  currency: 'The merchant account at Authorize.Net does not take this currency',
  unavailable: 'Authorize.Net is not available',
  unknown: 'Authorize.Net reported an error of its own',
}

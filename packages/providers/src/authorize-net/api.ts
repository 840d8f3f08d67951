// Authorize.Net's JSON API: response schemas, error codes, and calls. Numbers in responses are text, see
// `parseExactJson`.
import { type Static, type TSchema, Type } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'
import { maybe } from '../fields.ts'
import { createHttpClient, type HttpClient, type HttpResponse } from '../http.ts'
import type { Pace } from '../pacing.ts'
import { ProviderError, type ProviderErrorKind } from '../provider.ts'
import { parseExactJson, rateLimitIn, respondedAt, unreadableResponse } from '../responses.ts'
import { withRetries } from '../retries.ts'

const Text = Type.String({ maxLength: 8192 })
/** `numericString` in Authorize.Net's schema; it also arrives as a number. */
const Id = Type.String({ pattern: '^[0-9]{1,20}$' })
const Decimal = Type.String({ pattern: '^[0-9]{1,13}(\\.[0-9]{1,10})?$' })

/** Part of every response. Errors have HTTP status 200 too. */
const Envelope = Type.Object({
  messages: Type.Object({
    resultCode: Type.Union([Type.Literal('Ok'), Type.Literal('Error')]),
    message: Type.Array(Type.Object({ code: Type.String({ pattern: '^[A-Z][0-9]{5}$' }), text: Text }), {
      minItems: 1,
    }),
  }),
})
const envelope = Compile(Envelope)

export const emptyResponse = Compile(Type.Object({}))

export const merchantDetails = Compile(Type.Object({ currencies: Type.Array(Type.String({ pattern: '^[A-Z]{3}$' })) }))

export const hostedPaymentPage = Compile(Type.Object({ token: Type.String({ minLength: 1, maxLength: 8192 }) }))

const Transaction = Type.Object({
  transId: Id,
  refTransId: maybe(Text),
  submitTimeUTC: maybe(Text),
  transactionType: Text,
  transactionStatus: Text,
  responseCode: Type.String({ pattern: '^[0-9]$' }),
  responseReasonCode: maybe(Type.String({ pattern: '^[0-9]{1,6}$' })),
  subscription: maybe(Type.Object({ id: Id, payNum: Id })),
  order: maybe(Type.Object({ invoiceNumber: maybe(Text), description: maybe(Text) })),
  payment: maybe(
    Type.Object({
      creditCard: maybe(Type.Object({ cardNumber: Text })),
      bankAccount: maybe(
        Type.Object({
          accountType: maybe(Text),
          routingNumber: maybe(Text),
          accountNumber: maybe(Text),
          nameOnAccount: maybe(Text),
        }),
      ),
    }),
  ),
  returnedItems: maybe(Type.Array(Type.Object({ code: maybe(Text), description: maybe(Text) }))),
  authAmount: Decimal,
  settleAmount: Decimal,
  customer: maybe(Type.Object({ email: maybe(Text) })),
  profile: maybe(Type.Object({ customerProfileId: maybe(Text) })),
})
/** A transaction with all details. */
export type Transaction = Static<typeof Transaction>
export const transactionDetails = Compile(Type.Object({ transaction: Transaction }))

const TransactionSummary = Type.Object({
  transId: Id,
  submitTimeUTC: Text,
  transactionStatus: Text,
  invoiceNumber: maybe(Text),
})
/** A transaction in a list. */
export type TransactionSummary = Static<typeof TransactionSummary>
/** `transactions` is missing when there are none. */
export const transactionList = Compile(Type.Object({ transactions: maybe(Type.Array(TransactionSummary)) }))

/** `messages` of an approved transaction, `errors` of another one. `transId` is 0 when there is none. */
const TransactionResult = Type.Object({
  transactionResponse: Type.Object({
    responseCode: Type.String({ pattern: '^[0-9]$' }),
    transId: maybe(Id),
    messages: maybe(Type.Array(Type.Object({ code: Text }))),
    errors: maybe(Type.Array(Type.Object({ errorCode: Text }))),
  }),
})
export type TransactionResult = Static<typeof TransactionResult>
export const transactionResult = Compile(TransactionResult)

export const batchList = Compile(
  Type.Object({ batchList: maybe(Type.Array(Type.Object({ batchId: Id, settlementTimeUTC: Text }))) }),
)

export const createdProfile = Compile(Type.Object({ customerProfileId: Id }))
/** Also part of the error response for a duplicate. */
export const createdPaymentProfile = Compile(Type.Object({ customerPaymentProfileId: Id }))

const PaymentProfile = Type.Object({
  customerPaymentProfileId: Id,
  payment: maybe(
    Type.Object({
      creditCard: maybe(Type.Object({ cardNumber: maybe(Text), expirationDate: maybe(Text), cardType: maybe(Text) })),
      bankAccount: maybe(Type.Object({ accountNumber: maybe(Text) })),
      tokenInformation: maybe(Type.Object({ tokenNumber: maybe(Text), expirationDate: maybe(Text) })),
    }),
  ),
})
export type PaymentProfile = Static<typeof PaymentProfile>
export const paymentProfile = Compile(Type.Object({ paymentProfile: PaymentProfile }))

/**
 * An error response of the gateway. Its text may contain payer data, so it is kept in private fields, which loggers do
 * not print.
 */
export class AuthorizeNetError extends ProviderError {
  readonly #response: unknown
  readonly #text: string

  constructor({ code, text, response }: { readonly code: string; readonly text: string; readonly response: unknown }) {
    const kind = kindOf(code, text)
    super(kind, code, messages[kind], { rateLimit: code === tooBusy ? { retryAfterMs: null } : null })
    this.#response = response
    this.#text = text
  }

  /** The whole response: some errors contain the requested object. */
  get response(): unknown {
    return this.#response
  }

  /** The gateway's own message. Never show it to clients. */
  get text(): string {
    return this.#text
  }
}

/** «The server is currently too busy, please try again later.» */
const tooBusy = 'E00053'

/** «The record cannot be found»: the customer or the payment method in the request. */
export function isNotFound(error: unknown): boolean {
  return error instanceof AuthorizeNetError && error.code === 'E00040'
}

/** Codes not listed here mean `rejected`. */
const kinds: Readonly<Record<string, ProviderErrorKind>> = {
  /** «An error occurred during processing. Please try again.» */
  E00001: 'unknown',
  // Our credentials were rejected, or lack a permission.
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

/** An unsupported currency has no separate code; only the message names it. */
function kindOf(code: string, text: string): ProviderErrorKind {
  const kind = kinds[code] ?? 'rejected'
  return (kind === 'rejected' || kind === 'declined') && /currency/i.test(text) ? 'currency' : kind
}

const messages: Readonly<Record<ProviderErrorKind, string>> = {
  declined: 'Authorize.Net declined',
  rejected: 'Authorize.Net rejected the request',
  currency: 'The merchant account at Authorize.Net does not accept this currency',
  unavailable: 'Authorize.Net is not available',
  unknown: 'Authorize.Net reported an internal error',
}

export type Account = { readonly apiLoginId: string; readonly transactionKey: string }

/** The shared time limit of all calls made for one request. */
export type Deadline = { readonly leftMs: () => number }

export function startDeadline(timeoutMs: number): Deadline {
  const endsAt = performance.now() + timeoutMs
  return { leftMs: () => endsAt - performance.now() }
}

export type ApiResponse<Body> = {
  readonly body: Body
  /** The gateway's clock, ISO 8601. */
  readonly responded_at: string
}

export type Call<Schema extends TSchema> = {
  /** The request name without its suffix `Request`. */
  readonly method: string
  /** In the order of the schema: the gateway rejects any other. */
  readonly members: object
  readonly response: Validator<Record<never, never>, Schema>
  readonly deadline: Deadline
}

export type Api = {
  /** Sends a call once, and retries it only while throttled. @throws AuthorizeNetError, ProviderError */
  once<Schema extends TSchema>(call: Call<Schema>): Promise<ApiResponse<Static<Schema>>>
  /** Also retries a call whose response was lost: only for calls that may be made twice. */
  idempotent<Schema extends TSchema>(call: Call<Schema>): Promise<ApiResponse<Static<Schema>>>
  close(): Promise<void>
}

/** A page of a list has up to a thousand transactions. */
const maxResponseBytes = 4 * 1024 * 1024

export function createApi(options: { readonly account: Account; readonly apiBase: string; readonly pace: Pace }): Api {
  const { account, apiBase: origin, pace } = options
  const http = createHttpClient({ origin, pace, maxBytes: maxResponseBytes })
  const send = <Schema extends TSchema>(call: Call<Schema>, more: { readonly maxRetries?: number } = {}) =>
    withRetries({ timeoutMs: call.deadline.leftMs(), pace, ...more }, (remainingMs) =>
      sendCall(http, account, call, remainingMs),
    )
  return {
    once: (call) => send(call, { maxRetries: 0 }),
    idempotent: (call) => send(call),
    close: () => http.close(),
  }
}

async function sendCall<Schema extends TSchema>(
  http: HttpClient,
  { apiLoginId, transactionKey }: Account,
  { method, members, response: validator }: Call<Schema>,
  timeoutMs: number,
): Promise<ApiResponse<Static<Schema>>> {
  const merchantAuthentication = { name: apiLoginId, transactionKey }
  const response = await http.send({
    method: 'POST',
    path: '/xml/v1/request.api',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ [`${method}Request`]: { merchantAuthentication, ...members } }),
    timeoutMs,
  })
  if (response.status !== 200) throw httpStatusError(response)
  const body = parseExactJson(response.text)
  if (!envelope.Check(body)) throw unreadableResponse('unreadable_answer')
  const { resultCode, message } = body.messages
  const [first] = message
  if (resultCode === 'Error' && first) throw new AuthorizeNetError({ ...first, response: body })
  if (!validator.Check(body)) throw unreadableResponse('unreadable_answer')
  return { body, responded_at: respondedAt(response.headers) }
}

/** A status other than 200 comes from a proxy in front of the API, not from the API. */
function httpStatusError({ status, headers }: HttpResponse): ProviderError {
  // A 503 with `retry-after` certainly did not process the call.
  const isThrottled = status === 429 || (status === 503 && headers['retry-after'] !== undefined)
  if (status === 400) return new ProviderError('rejected', 'http_400', 'Authorize.Net rejected the request')
  if (!isThrottled && (status >= 500 || status < 300 || status === 408))
    return new ProviderError('unknown', `http_${status}`, 'Authorize.Net sent an invalid response')
  return new ProviderError('unavailable', `http_${status}`, 'Authorize.Net is not available', {
    rateLimit: isThrottled ? rateLimitIn(headers) : null,
  })
}

// Authorize.Net's JSON API: response schemas, error codes, and calls, also those that read or submit one transaction.
// Numbers in responses are text, see `parseExactJson`.
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { refusalText } from '../callWatch.ts'
import { maybe } from '../fields.ts'
import { createHttpClient } from '../http.ts'
import type { Pace } from '../pacing.ts'
import { ProviderError, type ProviderErrorKind } from '../provider.ts'
import {
  createProviderApi,
  type ErrorReader,
  ErrorResponse,
  nullIf,
  type ProviderApi,
  readResponse,
} from '../providerApi.ts'
import { parseExactJson, rateLimitIn, unreadableResponse } from '../responses.ts'

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
const transactionDetails = Compile(Type.Object({ transaction: Transaction }))

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
type TransactionResult = Static<typeof TransactionResult>
const transactionResult = Compile(TransactionResult)

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

/** «The server is currently too busy, please try again later.» */
const tooBusy = 'E00053'

/** «The record cannot be found»: the customer, the payment method or the transaction in the request. */
export function isNotFound(error: unknown): boolean {
  return error instanceof ErrorResponse && error.code === 'E00040'
}

export const nullIfNotFound = nullIf(isNotFound)

/** The gateway's own message. Never show it to clients. */
export function textOf({ response }: ErrorResponse): string {
  return (envelope.Check(response.body) && response.body.messages.message[0]?.text) || ''
}

/** Our credentials were rejected or lack a permission, or the gateway is busy or in maintenance. */
const unavailable = 'E00005 E00006 E00007 E00008 E00009 E00010 E00011 E00053 E00059 E00104 E00124'.split(' ')

/** Our credentials were rejected, or the account is not active. */
const refusals: ReadonlySet<string> = new Set(['E00005', 'E00006', 'E00007', 'E00008'])

/** Codes not listed here mean `rejected`. */
const kinds: ReadonlyMap<string, ProviderErrorKind> = new Map([
  /** «An error occurred during processing. Please try again.» */
  ['E00001', 'unknown'],
  ...unavailable.map((code) => [code, 'unavailable'] as const),
  /** «The transaction was unsuccessful.» */
  ['E00027', 'declined'],
])

/** An unsupported currency has no separate code; only the message names it. */
function kindOf(code: string, text: string): ProviderErrorKind {
  const kind = kinds.get(code) ?? 'rejected'
  return (kind === 'rejected' || kind === 'declined') && /currency/i.test(text) ? 'currency' : kind
}

const messagesByKind: Readonly<Record<ProviderErrorKind, string>> = {
  declined: 'Authorize.Net declined',
  rejected: 'Authorize.Net rejected the request',
  currency: 'The merchant account at Authorize.Net does not accept this currency',
  unavailable: 'Authorize.Net is not available',
  unknown: 'Authorize.Net reported an internal error',
}

export type Account = { readonly apiLoginId: string; readonly transactionKey: string }

export type MerchantRequest = {
  /** The request name without its suffix `Request`. */
  readonly method: string
  /** In the order of the schema: the gateway rejects any other. */
  readonly members?: object
  /** `once`: for a call that must not be made twice, so it is not repeated after a lost response. */
  readonly repeat?: 'once'
}

export type Api = ProviderApi<MerchantRequest>

/** A page of a list has up to a thousand transactions. */
const maxBytes = 4 * 1024 * 1024

export function createApi(options: {
  readonly account: Account
  readonly apiBase: string
  readonly timeoutMs: number
  readonly pace: Pace
}): Api {
  const { apiLoginId, transactionKey } = options.account
  const merchantAuthentication = { name: apiLoginId, transactionKey }
  const http = createHttpClient({ ...options, origin: options.apiBase, maxBytes })
  return createProviderApi(options, {
    async send({ method, members }) {
      const response = await http.send({
        method: 'POST',
        path: '/xml/v1/request.api',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify({ [`${method}Request`]: { merchantAuthentication, ...members } }),
      })
      return readResponse(response, errorIn, parseExactJson)
    },
    isRepeatable: ({ repeat }) => repeat !== 'once',
    http,
  })
}

/** Errors of the gateway have the status 200, too. */
const errorIn: ErrorReader = (response) => {
  const { status, body } = response
  if (status !== 200) return httpStatusError(response)
  if (!envelope.Check(body)) return unreadableResponse('unreadable_answer')
  const { resultCode, message } = body.messages
  const [first] = message
  if (resultCode === 'Ok' || !first) return null
  const kind = kindOf(first.code, first.text)
  const rateLimit = first.code === tooBusy ? { retryAfterMs: null } : null
  const refusal = refusals.has(first.code) ? refusalText(first.text) : null
  return new ErrorResponse(kind, first.code, messagesByKind[kind], { rateLimit, refusal, response })
}

/** A status other than 200 comes from a proxy in front of the API, not from the API. */
function httpStatusError({ status, headers }: Parameters<ErrorReader>[0]): ProviderError {
  // A 503 with `retry-after` certainly did not process the call.
  const isThrottled = status === 429 || (status === 503 && headers['retry-after'] !== undefined)
  if (status === 400) return new ProviderError('rejected', 'http_400', messagesByKind.rejected)
  if (!isThrottled && (status >= 500 || status < 300 || status === 408))
    return new ProviderError('unknown', `http_${status}`, 'Authorize.Net sent an invalid response')
  return new ProviderError('unavailable', `http_${status}`, messagesByKind.unavailable, {
    rateLimit: isThrottled ? rateLimitIn(headers) : null,
  })
}

/** What the gateway said, and when by its own clock, ISO 8601. */
export type Read<Body> = { readonly body: Body; readonly responded_at: string }

/** @returns `null` when the gateway has no such transaction @throws ProviderError */
export async function readTransaction(api: Api, transId: string): Promise<Read<Transaction> | null> {
  const call = { method: 'getTransactionDetails', members: { transId } }
  const found = await api.request(transactionDetails, call).catch(nullIfNotFound)
  return found && { body: found.body.transaction, responded_at: found.responded_at }
}

/**
 * How long the gateway rejects a repetition of the same card, amount and invoice, in seconds: its maximum. A payment
 * can have two tokens, and a payer may submit both.
 */
export const duplicateWindow = { settingName: 'duplicateWindow', settingValue: '28800' }

export type Submitted = {
  readonly transId: string
  /** The gateway's reason code; 310 and 311: voided or captured before. */
  readonly code: string
  /** The gateway's clock, ISO 8601. */
  readonly responded_at: string
}

/**
 * Submits a transaction.
 * @param transactionRequest in the order of the schema
 * @param repeat `once` unless the gateway takes a repetition for the same transaction, as it does for voids and captures
 * @throws ProviderError unless it is approved; `unknown` with the code 11 for a duplicate
 */
export async function submitTransaction(
  api: Api,
  transactionRequest: object,
  repeat: Pick<MerchantRequest, 'repeat'> = {},
): Promise<Submitted> {
  const call = { method: 'createTransaction', members: { transactionRequest }, ...repeat }
  try {
    const { body, responded_at } = await api.request(transactionResult, call)
    const { responseCode, transId, messages } = body.transactionResponse
    if (responseCode !== '1') throw transactionError(body)
    if (!transId || transId === '0') throw unreadableResponse('unreadable_answer')
    return { transId, code: messages?.[0]?.code ?? '1', responded_at }
  } catch (error) {
    // The reason is beside the error of the call.
    if (error instanceof ErrorResponse && transactionResult.Check(error.response.body))
      throw transactionError(error.response.body)
    throw error
  }
}

/** «A duplicate transaction has been submitted.» */
const duplicate = '11'

/** https://developer.authorize.net/api/reference/responseCodes.html */
const messagesByCode: Readonly<Record<string, string>> = {
  '16': 'Authorize.Net does not know the transaction',
  '54': 'Authorize.Net cannot refund this transaction',
}

function transactionError({ transactionResponse }: TransactionResult): ProviderError {
  const { responseCode, errors } = transactionResponse
  const code = errors?.[0]?.errorCode ?? `response_code_${responseCode}`
  if (code === duplicate)
    return new ProviderError('unknown', code, 'Authorize.Net has received this transaction before')
  if (responseCode === '2') return new ProviderError('declined', code, 'Authorize.Net declined')
  return new ProviderError('rejected', code, messagesByCode[code] ?? 'Authorize.Net rejected the transaction')
}

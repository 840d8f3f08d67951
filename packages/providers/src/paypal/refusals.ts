// What PayPal's refusals mean: its error body, and which kind of error each issue is.
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { parseJson, rateLimitIn } from '../answers.ts'
import type { HttpResponse } from '../http.ts'
import { ProviderError, type RateLimit } from '../provider.ts'

/** A definite no: PayPal has understood the request and did nothing. */
export type PaypalRejection = {
  readonly status: number
  /** `UNPROCESSABLE_ENTITY`, `RESOURCE_NOT_FOUND`, … */
  readonly name: string
  /** The first of the details: `INSTRUMENT_DECLINED`, …; the name when there are none. */
  readonly issue: string
  readonly field: string | null
}

const Word = Type.String({ pattern: '^[A-Za-z0-9_.-]{1,100}$' })
const errorBody = Compile(
  Type.Object({
    name: Word,
    details: Type.Optional(
      Type.Array(Type.Object({ issue: Type.Optional(Type.String()), field: Type.Optional(Type.String()) })),
    ),
  }),
)
const word = Compile(Word)

/** The payer cannot pay like this; another means, or another payer, may. */
const declines: ReadonlySet<string> = new Set([
  'ALIAS_DECLINED_BY_PROCESSOR',
  'CARD_BRAND_NOT_SUPPORTED',
  'CARD_CLOSED',
  'CARD_EXPIRED',
  'COMPLIANCE_VIOLATION',
  'DECLINED_DUE_TO_RELATED_TXN',
  'DOMESTIC_TRANSACTION_REQUIRED',
  'INSTRUMENT_DECLINED',
  'MAX_NUMBER_OF_PAYMENT_ATTEMPTS_EXCEEDED',
  'PAYEE_BLOCKED_TRANSACTION',
  'PAYER_ACCOUNT_LOCKED_OR_CLOSED',
  'PAYER_ACCOUNT_RESTRICTED',
  'PAYER_CANNOT_PAY',
  'PAYMENT_DENIED',
  'PAYMENT_SOURCE_CANNOT_BE_USED',
  'PAYMENT_SOURCE_DECLINED_BY_PROCESSOR',
  'REDIRECT_PAYER_FOR_ALTERNATE_FUNDING',
  'REFERENCED_CARD_EXPIRED',
  'TRANSACTION_BLOCKED_BY_PAYEE',
  'TRANSACTION_LIMIT_EXCEEDED',
  'TRANSACTION_RECEIVING_LIMIT_EXCEEDED',
  'TRANSACTION_REFUSED',
])

/** The same request is being worked on elsewhere, so what becomes of it is not known yet. */
const inFlight: ReadonlySet<string> = new Set([
  'DUPLICATE_REQUEST_ID',
  'ORDER_COMPLETION_IN_PROGRESS',
  'PREVIOUS_REQUEST_IN_PROGRESS',
])

const aboutCurrency = /^(CURRENCY_NOT_SUPPORTED|INVALID_CURRENCY_CODE|DECIMAL|MAX_VALUE_EXCEEDED)/

export const isDecline = ({ issue }: PaypalRejection): boolean => declines.has(issue)

/**
 * What an answer other than a success refuses.
 * @throws ProviderError `unavailable` when PayPal surely did nothing and may do it later; `unknown` when nobody can tell
 */
export function rejectionIn(answer: HttpResponse): PaypalRejection {
  const { status } = answer
  if (status === 401 || status === 403) throw callError('unavailable', `status_${status}`)
  if (status === 429) throw callError('unavailable', 'rate_limited', rateLimitIn(answer.headers))
  const body = parseJson(answer.text)
  if (status < 400 || status > 499 || !errorBody.Check(body)) throw callError('unknown', `status_${status}`)
  const [detail] = body.details ?? []
  const issue = detail?.issue !== undefined && word.Check(detail.issue) ? detail.issue : body.name
  if (status === 408 || status === 409 || inFlight.has(issue)) throw callError('unknown', issue.toLowerCase())
  return { status, name: body.name, issue, field: detail?.field ?? null }
}

/** The error that a refusal is for whoever made the call. */
export function rejectionError(refusal: PaypalRejection): ProviderError {
  const code = refusal.issue.toLowerCase()
  if (isDecline(refusal)) return new ProviderError('declined', code, 'PayPal declined the payment')
  if (aboutCurrency.test(refusal.issue) || refusal.field?.endsWith('currency_code'))
    return new ProviderError('currency', code, 'PayPal does not take this amount in this currency')
  return new ProviderError('rejected', code, 'PayPal refused the request')
}

function callError(kind: 'unavailable' | 'unknown', code: string, rateLimit: RateLimit | null = null): ProviderError {
  const message = kind === 'unavailable' ? 'PayPal does not serve us now' : 'PayPal gave no clear answer'
  return new ProviderError(kind, code, message, { rateLimit })
}

// One call of Authorize.Net's JSON API: who we are, the time that is left, and whether the answer is a yes.
import type { Static, TSchema } from 'typebox'
import type { Validator } from 'typebox/compile'
import { respondedAt, rateLimitIn, unreadableResponse } from '../answers.ts'
import { createHttpClient, type HttpResponse, type HttpClient } from '../http.ts'
import type { Pace } from '../pacing.ts'
import { ProviderError } from '../provider.ts'
import { withRetries } from '../repeatCall.ts'
import { envelope } from './answers.ts'
import { parseExactJson } from './exactJson.ts'
import { AuthorizeNetError } from './refusals.ts'

export type Account = { readonly apiLoginId: string; readonly transactionKey: string }

/** The one clock of everything that is done for one request. */
export type Deadline = { readonly leftMs: () => number }

export function startDeadline(timeoutMs: number): Deadline {
  const endsAt = performance.now() + timeoutMs
  return { leftMs: () => endsAt - performance.now() }
}

export type ApiResponse<Body> = {
  readonly body: Body
  /** By the gateway's clock, ISO 8601. */
  readonly responded_at: string
}

export type Call<Schema extends TSchema> = {
  /** The name without `Request`. */
  readonly method: string
  /** In the order of the schema: the gateway refuses any other. */
  readonly members: object
  readonly response: Validator<Record<never, never>, Schema>
  readonly deadline: Deadline
}

export type Api = {
  /** Sends a call once, and again only while it is throttled. @throws Refusal, ProviderError */
  once<Schema extends TSchema>(call: Call<Schema>): Promise<ApiResponse<Static<Schema>>>
  /** Sends a call again when its answer is lost, which only suits calls that may be made twice. */
  idempotent<Schema extends TSchema>(call: Call<Schema>): Promise<ApiResponse<Static<Schema>>>
  close(): Promise<void>
}

/** A page of a list has up to a thousand lines. */
const maxResponseBytes = 4 * 1024 * 1024

export function createApi(options: { readonly account: Account; readonly apiBase: string; readonly pace: Pace }): Api {
  const { account, apiBase: origin, pace } = options
  const http = createHttpClient({ origin, pace, maxBytes: maxResponseBytes })
  const send = <Schema extends TSchema>(call: Call<Schema>, more: { readonly maxRepeats?: number } = {}) =>
    withRetries({ timeoutMs: call.deadline.leftMs(), pace, ...more }, (remainingMs) =>
      sendCall(http, account, call, remainingMs),
    )
  return {
    once: (call) => send(call, { maxRepeats: 0 }),
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
  return { body, answered_at: respondedAt(response.headers) }
}

/** Any other status than 200 does not come from the API itself, but from what stands in front of it. */
function httpStatusError({ status, headers }: HttpResponse): ProviderError {
  // What names a time for another try has turned this one away.
  const isThrottled = status === 429 || (status === 503 && headers['retry-after'] !== undefined)
  if (status === 400) return new ProviderError('rejected', 'http_400', 'Authorize.Net refused the request')
  if (!isThrottled && (status >= 500 || status < 300 || status === 408))
    return new ProviderError('unknown', `http_${status}`, 'Authorize.Net did not answer properly')
  return new ProviderError('unavailable', `http_${status}`, 'Authorize.Net is not available', {
    rateLimit: isThrottled ? rateLimitIn(headers) : null,
  })
}

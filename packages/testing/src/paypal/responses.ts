// PayPal's responses and errors, with helpers for ids and texts.

import { randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { valueAt } from '../fakeServer.ts'

export type FakeResponse = {
  readonly status: number
  /** Evaluated when the response is written, so that it shows the current state. `undefined`: an empty body. */
  readonly body: () => unknown
  readonly headers?: Readonly<Record<string, string>>
}

const debugId = 'f00dfacefeed1'

export function respondWith(status: number, body: () => unknown): FakeResponse {
  return { status, body }
}

const titles: Readonly<Record<number, readonly [name: string, message: string]>> = {
  400: ['INVALID_REQUEST', 'Request is not well-formed, syntactically incorrect, or violates schema.'],
  404: ['RESOURCE_NOT_FOUND', 'The specified resource does not exist.'],
  409: ['RESOURCE_CONFLICT', 'The server has detected a conflict while processing this request.'],
  422: ['UNPROCESSABLE_ENTITY', 'The requested action could not be performed, or failed business validation.'],
}

/** An error response with one detail. */
export function errorResponse(status: number, issue: string, field?: string): FakeResponse {
  const [name = 'ERROR', message = 'The request failed.'] = titles[status] ?? []
  return respondWith(status, () => ({
    name,
    message,
    debug_id: debugId,
    details: [{ issue, description: 'A description by PayPal.', ...(field === undefined ? {} : { field }) }],
    links: [{ href: `https://developer.paypal.com/api/rest/errors/#${issue}`, rel: 'information_link', method: 'GET' }],
  }))
}

/** There is no such object. */
export const missing = errorResponse(404, 'INVALID_RESOURCE_ID')

export const validationError = respondWith(400, () => ({
  name: 'VALIDATION_ERROR',
  message: 'Invalid request - see details',
  debug_id: debugId,
  details: [{ field: '', location: 'body', issue: 'MISSING_OR_INVALID' }],
  links: [],
}))

export const invalidToken = respondWith(401, () => ({
  error: 'invalid_token',
  error_description: 'Token signature failed',
}))

export const invalidClient = respondWith(401, () => ({
  error: 'invalid_client',
  error_description: 'Client Authentication failed',
}))

/** @param headers may contain `retry-after`, which PayPal does not document */
export function rateLimited(headers: Readonly<Record<string, string>>): FakeResponse {
  const body = () => ({
    name: 'RATE_LIMIT_REACHED',
    message: 'Too many requests. Blocked due to rate limiting.',
    debug_id: debugId,
    links: [],
  })
  return { status: 429, body, headers }
}

export function send(response: ServerResponse, { status, body, headers }: FakeResponse): void {
  const content = body()
  response.writeHead(status, { 'content-type': 'application/json', 'paypal-debug-id': debugId, ...headers })
  response.end(content === undefined ? '' : JSON.stringify(content))
}

/** The text at a path, if it matches. */
export function textAt(value: unknown, pattern: RegExp, ...path: readonly (string | number)[]): string | undefined {
  const found = valueAt(value, ...path)
  return typeof found === 'string' && pattern.test(found) ? found : undefined
}

/** @returns `undefined` for invalid JSON */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const letters = 'ABCDEFGHJKLMNPRSTUVWXY0123456789'

/** An id in PayPal's format: 17 capitals and digits. */
export function paypalId(): string {
  return Array.from(randomBytes(17), (byte) => letters[byte % letters.length]).join('')
}

/** @returns PayPal's issue for an invalid text, or `undefined` for a valid one */
export function textIssue(
  text: unknown,
  { min, max, isRequired }: { readonly min: number; readonly max: number; readonly isRequired: boolean },
): string | undefined {
  if (text === undefined) return isRequired ? 'MISSING_REQUIRED_PARAMETER' : undefined
  if (typeof text !== 'string') return 'INVALID_PARAMETER_SYNTAX'
  if (text.length < min) return 'INVALID_STRING_MIN_LENGTH'
  return text.length > max ? 'INVALID_STRING_MAX_LENGTH' : undefined
}

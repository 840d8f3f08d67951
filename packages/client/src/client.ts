// The client of the API, for Node and browsers: one typed function for each operation of the OpenAPI document.
import createFetchClient from 'openapi-fetch'
import { PaylogError } from './errors.ts'
import { operationRoutes } from './operations.ts'
import { type Fetch, withRetries } from './retries.ts'
import type { components, operations, paths } from './schema.ts'

/** The resources, bodies and errors of the API by name: `Schemas['Payment']`. */
export type Schemas = components['schemas']

export type PaylogClientOptions = {
  /** Without a path. */
  readonly baseUrl: string
  /** Of every request; without one, requests are anonymous. */
  readonly credential?: { readonly session: string } | { readonly guest_token: string }
  /** Of every request. */
  readonly headers?: Readonly<Record<string, string>>
  /** In place of the global one. */
  readonly fetch?: Fetch
  /** How often a request that may be repeated is sent again. Default: 2 */
  readonly maxRetries?: number
  /** For each attempt. Default: 80 s, longer than any operation but `syncProducts` takes */
  readonly timeoutMs?: number
}

const defaultTimeoutMs = 80_000
/** Longer than the API takes for a file. */
const fileTimeoutMs = 660_000

export type OperationId = keyof typeof operationRoutes

type MaybeUndefined<Fields> = {
  [Name in keyof Fields]: Record<never, never> extends Pick<Fields, Name> ? Fields[Name] | undefined : Fields[Name]
}
type Parameters<Operation> = Operation extends { parameters: infer All }
  ? { [Place in keyof All as Place extends 'cookie' ? never : Place]: MaybeUndefined<All[Place]> }
  : never
type Json<Body> = { content: { 'application/json': Body } }
type BodyOf<Operation> = Operation extends { requestBody?: never }
  ? { body?: never }
  : Operation extends { requestBody: Json<infer Body> }
    ? { body: Body }
    : Operation extends { requestBody?: Json<infer Body> }
      ? { body?: Body }
      : never

/** `path`, `query` and `header` parameters, the `body`, a `signal` that ends the call, and another `timeoutMs`. */
export type OperationInput<Id extends OperationId> = Parameters<operations[Id]> &
  BodyOf<operations[Id]> & { signal?: AbortSignal | undefined; timeoutMs?: number | undefined }

type ContentOf<Response> = Response extends { content: infer Content }
  ? Content extends { 'application/json': infer Body }
    ? Body
    : Content[keyof Content]
  : never
type SuccessOf<Operation> = Operation extends { responses: infer Responses }
  ? ContentOf<Responses[keyof Responses]>
  : never

export type OperationResult<Id extends OperationId> = {
  /** Parsed if it is JSON. */
  readonly body: SuccessOf<operations[Id]>
  readonly status: number
  /** Such as `etag` (for If-Match), `x-event-position` (for X-Read-After) and `x-request-id`. */
  readonly headers: Headers
}

/** The operations whose lists are files, too. */
type ListId = {
  [Id in OperationId]: operations[Id] extends { responses: { 200: { content: { 'text/csv': string } } } } ? Id : never
}[OperationId]

/** A list as a file: all rows of the filter. The stream fails when the file breaks off. */
export type ListFile = { readonly body: ReadableStream<Uint8Array>; readonly status: number; readonly headers: Headers }
const csv = 'text/csv'

/** Not `application/x-ndjson`, whose lines are JSON and whose whole is not. */
const jsonType = /^application\/(?:[\w.-]+\+)?json\b/

type Call<Id extends OperationId> =
  Record<never, never> extends OperationInput<Id>
    ? (input?: OperationInput<Id>) => Promise<OperationResult<Id>>
    : (input: OperationInput<Id>) => Promise<OperationResult<Id>>
type FileCall<Id extends OperationId> = (input: OperationInput<Id> & { accept: typeof csv }) => Promise<ListFile>

export type PaylogClient = {
  readonly [Id in OperationId]: Call<Id> & (Id extends ListId ? FileCall<Id> : unknown)
}

/**
 * A function for each operation, which returns the response of a success.
 *
 * A GET, and a POST with an Idempotency-Key, is sent again when there was no response, after 503 and 504, after 429 with a
 * Retry-After, and while an earlier attempt is in progress. Where the API takes a key, the client makes one for each call
 * that has none, so that such a call is executed once. Pass a key of your own
 * (`header: { 'idempotency-key': … }`) to make the whole call repeatable, also after a crash.
 *
 * As Stripe's and Svix's clients do, a call throws when it does not succeed:
 * `PaylogError` for an error response, with `code`, `details` and `request_id`; `PaylogConnectionError` when there was none; the
 * reason of the signal when it was aborted.
 *
 * With `accept: 'text/csv'` a list of administrators is a file, whose `body` is a stream.
 * @example
 * const paylog = createPaylogClient({ baseUrl: 'https://pay.example.com', credential: { session } })
 * const { body } = await paylog.getPayment({ path: { id } })
 */
export function createPaylogClient(options: PaylogClientOptions): PaylogClient {
  const { baseUrl, credential, headers, maxRetries = 2 } = options
  const fetch = options.fetch ?? ((request, init) => globalThis.fetch(request, init))
  const http = createFetchClient<paths>({
    baseUrl,
    headers: { ...credentialHeader(credential), ...headers },
  })

  const callOf =
    (id: OperationId) =>
    async (input: AnyInput = {}) => {
      const { method, path, takesKey } = operationRoutes[id]
      const { body, signal, header = {}, accept, timeoutMs = timeoutOf(accept, options), ...params } = input
      const keyed = takesKey ? { ...header, 'idempotency-key': header['idempotency-key'] ?? randomKey() } : header
      const isFile = accept === csv
      // The types of openapi-fetch are by literal path and method; those of the client say the same by operation.
      const request = http.request as unknown as AnyRequest
      const { data, error, response } = await request(method, path, {
        params: { ...params, header: keyed },
        body,
        signal,
        parseAs: isFile ? 'stream' : 'text',
        ...(accept && { headers: { accept } }),
        fetch: withRetries(fetch, { maxRetries, timeoutMs, isStream: isFile }),
      })
      const { status, headers } = response
      const contentType = headers.get('content-type') ?? ''
      if (!response.ok || (isFile && !contentType.startsWith(csv))) throw new PaylogError(response, error)
      const isJson = typeof data === 'string' && jsonType.test(contentType)
      return { body: isJson ? JSON.parse(data) : data, status, headers }
    }
  const ids = Object.keys(operationRoutes) as OperationId[]
  return Object.fromEntries(ids.map((id) => [id, callOf(id)])) as unknown as PaylogClient
}

type AnyInput = {
  readonly path?: object
  readonly query?: object
  readonly header?: Readonly<Record<string, string | undefined>>
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number | undefined
  readonly accept?: typeof csv | undefined
}
type AnyRequest = (
  method: string,
  path: string,
  init: object,
) => Promise<{ readonly data?: unknown; readonly error?: unknown; readonly response: Response }>

const timeoutOf = (accept: AnyInput['accept'], { timeoutMs }: PaylogClientOptions) =>
  timeoutMs ?? (accept === undefined ? defaultTimeoutMs : fileTimeoutMs)

function credentialHeader(credential: PaylogClientOptions['credential']): Readonly<Record<string, string>> {
  if (credential === undefined) return {}
  if ('session' in credential) return { 'X-Session-ID': credential.session }
  return { 'X-Guest-Token': credential.guest_token }
}

/** Not `crypto.randomUUID`, which browsers have on secure origins only. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

// The client of a provider's API: limited in time, repeated and checked in the same way for all of them. How a request is sent,
// and what an error response means, is the provider's own.
import type { Static, TSchema } from 'typebox'
import type { Validator } from 'typebox/compile'
import { notingCredentials } from './callWatch.ts'
import type { HttpClient, HttpResponse } from './http.ts'
import type { Pace } from './pacing.ts'
import { ProviderError, type ProviderErrorKind } from './provider.ts'
import { checkResponse, parseJson, respondedAt, unreadableResponse } from './responses.ts'
import { withRetries } from './retries.ts'
import { withinTimeLimit } from './timeLimit.ts'

export type ApiResponse<Body> = {
  readonly body: Body
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The provider's clock, ISO 8601. */
  readonly responded_at: string
}

export type ProviderApi<Request> = {
  /**
   * Sends a request until it has a clear response, and checks the shape of that. Requests outside of a provider's call
   * have the provider's time limit each.
   * @throws ErrorResponse; ProviderError `unavailable` when nothing was done, `unknown` when something may have been
   */
  request<Schema extends TSchema>(
    schema: Validator<Record<never, never>, Schema>,
    request: Request,
  ): Promise<ApiResponse<Static<Schema>>>
  /** The provider's clock, of the `Date` header of a response to a request that does nothing. @throws ProviderError */
  readTime(): Promise<Date>
  close(): Promise<void>
}

/** What is the provider's own. */
type Dialect<Request> = {
  /** Sends a request once. @throws ProviderError */
  readonly send: (request: Request) => Promise<ApiResponse<unknown>>
  /** Whether the request may be repeated after a lost response. */
  readonly isRepeatable: (request: Request) => boolean
  readonly http: HttpClient
}

/** @param limits `timeoutMs`: for all attempts of one call together */
export function createProviderApi<Request>(
  limits: { readonly timeoutMs: number; readonly pace: Pace },
  { send, isRepeatable, http }: Dialect<Request>,
): ProviderApi<Request> {
  return {
    request: (schema, request) =>
      withinTimeLimit(limits.timeoutMs, () =>
        withRetries({ pace: limits.pace, isRepeatable: isRepeatable(request) }, async () => {
          const response = await notingCredentials(() => send(request))
          return { ...response, body: checkResponse(schema, response.body) }
        }),
      ),
    readTime: () =>
      withinTimeLimit(limits.timeoutMs, async () => {
        const { headers } = await http.send({ method: 'HEAD', path: '/', headers: {} })
        const time = Date.parse(headers.date ?? '')
        if (Number.isNaN(time)) throw unreadableResponse('without_date')
        return new Date(time)
      }),
    close: http.close,
  }
}

/** @returns the error of an error response, `null` for a success */
export type ErrorReader = (
  response: ApiResponse<unknown> & Pick<HttpResponse, 'status' | 'headers'>,
) => ProviderError | null

/**
 * Reads the response to a request.
 * @param parse returns `undefined` for text that is not valid
 * @throws the error of an error response; ProviderError `unknown` for text that is not valid
 */
export function readResponse(
  { status, headers, text }: HttpResponse,
  errorIn: ErrorReader,
  parse: (text: string) => unknown = parseJson,
): ApiResponse<unknown> {
  const response = { body: parse(text), headers, responded_at: respondedAt(headers) }
  const error = errorIn({ ...response, status })
  if (error) throw error
  if (response.body === undefined && text !== '') throw unreadableResponse('unreadable_answer')
  return response
}

/** An error response of a provider. The response may contain personal data, so loggers do not see it. */
export class ErrorResponse extends ProviderError {
  /** The HTTP status. */
  readonly status: number
  /** What in the request the error is about, in the provider's words. */
  readonly field: string | null
  readonly #response: ApiResponse<unknown>

  constructor(
    kind: ProviderErrorKind,
    code: string,
    message: string,
    options: ConstructorParameters<typeof ProviderError>[3] & {
      readonly response: ApiResponse<unknown> & { readonly status: number }
      readonly field?: string | null | undefined
    },
  ) {
    super(kind, code, message, options)
    this.status = options.response.status
    this.field = options.field ?? null
    this.#response = options.response
  }

  /** Never show it to clients. */
  get response(): ApiResponse<unknown> {
    return this.#response
  }
}

/** For `catch`: turns some error responses into `null`. */
export function nullIf(isExpected: (error: ErrorResponse) => boolean): (error: unknown) => null {
  return (error) => {
    if (error instanceof ErrorResponse && isExpected(error)) return null
    throw error
  }
}

// What an endpoint answers, as far as it is read.

export type EndpointResponse = {
  readonly httpStatus: number
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The start of the body. */
  readonly body: string
}

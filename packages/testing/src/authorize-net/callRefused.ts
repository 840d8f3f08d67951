// A call that the provider refuses with a code of its own.

export class AuthorizeNetApiError extends Error {
  readonly code: string
  /** What the refusal carries all the same. */
  readonly members: object

  constructor(code: string, text: string, members: object = {}) {
    super(text)
    this.code = code
    this.members = members
  }
}

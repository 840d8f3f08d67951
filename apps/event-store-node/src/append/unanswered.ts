// For an append that the real server never answers.

/** The call stays open until its client gives up; nothing else refers to the promise, so that it costs nothing. */
export function neverAnswered(): Promise<never> {
  return new Promise(() => undefined)
}

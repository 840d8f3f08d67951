// PayPal-Request-Id: the same one gets the latest state of what the first call made.
import { type FakeResponse, respondWith, errorResponse } from './answers.ts'

export type RequestIds = {
  /**
   * Does a call, unless one with the same key has succeeded before. One that was refused is done anew.
   * @param operation keys of different operations have nothing to do with each other
   */
  once(operation: string, key: string | undefined, act: () => FakeResponse): FakeResponse
  /** Marks a key as being worked on while the call is played. Of two calls at the same time the second one fails. */
  exclusively(key: string | undefined, play: () => Promise<void>, refuse: (answer: FakeResponse) => void): Promise<void>
  /** As if so much time had passed that the server does not store the keys any more. */
  forget(): void
}

export function createRequestIds(): RequestIds {
  const done = new Map<string, FakeResponse>()
  const working = new Set<string>()
  return {
    once(operation, key, act) {
      if (key === undefined) return act()
      const id = `${operation} ${key}`
      const first = done.get(id)
      if (first) return respondWith(200, first.body)
      const made = act()
      if (made.status < 300) done.set(id, made)
      return made
    },
    async exclusively(key, play, refuse) {
      if (key === undefined) return play()
      if (working.has(key)) return refuse(errorResponse(409, 'PREVIOUS_REQUEST_IN_PROGRESS'))
      working.add(key)
      try {
        await play()
      } finally {
        working.delete(key)
      }
    },
    forget: () => done.clear(),
  }
}

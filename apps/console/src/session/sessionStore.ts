// Keeps the session id of this tab.

/** Where the session id is kept; a tab's `sessionStorage`. */
export type SessionStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

export type Session = {
  /** Null when nobody is signed in, and when the cookie is the session. */
  readonly sessionId: string | null
  /** Whether the API no longer accepts it. */
  readonly isExpired: boolean
}

export type SessionStore = {
  current(): Session
  signIn(sessionId: string): void
  /** Tries the session of the cookie again. */
  retryCookie(): void
  signOut(): void
  markExpired(): void
  /** @returns the function that ends the subscription */
  subscribe(listener: () => void): () => void
}

const storageKey = 'paylog.session'

/** @param storage survives a reload, and ends with the tab */
export function createSessionStore(storage: SessionStorage): SessionStore {
  let session: Session = { sessionId: storage.getItem(storageKey), isExpired: false }
  const listeners = new Set<() => void>()
  const change = (next: Session) => {
    session = next
    for (const listener of listeners) listener()
  }
  return {
    current: () => session,
    signIn(sessionId) {
      storage.setItem(storageKey, sessionId)
      change({ sessionId, isExpired: false })
    },
    retryCookie: () => change({ sessionId: null, isExpired: false }),
    signOut() {
      storage.removeItem(storageKey)
      change({ sessionId: null, isExpired: false })
    },
    markExpired() {
      if (!session.isExpired) change({ ...session, isExpired: true })
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/**
 * The session id of a link such as `/console#session=…`.
 * @param hash the URL's fragment, with its #
 */
export function sessionInFragment(hash: string): string | null {
  const session = new URLSearchParams(hash.replace(/^#/, '')).get('session')?.trim()
  return session === undefined || session === '' ? null : session
}

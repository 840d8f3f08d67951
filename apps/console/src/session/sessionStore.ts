// Keeps the session id of this tab.

/** Where the session id is kept; a tab's `sessionStorage`. */
export type SessionStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

export type Session = {
  /** Null when nobody is signed in, and when the cookie is the session. */
  readonly sessionId: string | null
  /** Whether the API no longer accepts it. */
  readonly isExpired: boolean
  /** Of a link that wants to sign in another session; null when there is none. */
  readonly offered: string | null
}

export type SessionStore = {
  current(): Session
  signIn(sessionId: string): void
  /** A link wants to sign in this session. Nothing changes until somebody accepts it, with `signIn`. */
  offer(sessionId: string): void
  /** Stays with the present session. */
  refuseOffer(): void
  /** Tries the session of the cookie again. */
  retryCookie(): void
  signOut(): void
  markExpired(): void
  /** @returns the function that ends the subscription */
  subscribe(listener: () => void): () => void
}

const storageKey = 'paylog.session'
/** The offer of a link stays until somebody answers it, also after a reload. */
const offerKey = 'paylog.offer'

/** @param storage survives a reload, and ends with the tab */
export function createSessionStore(storage: SessionStorage): SessionStore {
  let session: Session = {
    sessionId: storage.getItem(storageKey),
    isExpired: false,
    offered: storage.getItem(offerKey),
  }
  const listeners = new Set<() => void>()
  const change = (next: Session) => {
    session = next
    if (next.offered === null) storage.removeItem(offerKey)
    else storage.setItem(offerKey, next.offered)
    for (const listener of listeners) listener()
  }
  return {
    current: () => session,
    signIn(sessionId) {
      storage.setItem(storageKey, sessionId)
      change({ sessionId, isExpired: false, offered: null })
    },
    offer(sessionId) {
      if (sessionId !== session.sessionId) change({ ...session, offered: sessionId })
    },
    refuseOffer: () => change({ ...session, offered: null }),
    retryCookie: () => change({ sessionId: null, isExpired: false, offered: null }),
    signOut() {
      storage.removeItem(storageKey)
      change({ sessionId: null, isExpired: false, offered: null })
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

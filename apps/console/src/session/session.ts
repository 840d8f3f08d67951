// The session of this tab, and the link that wants to sign in one.
import { useSyncExternalStore } from 'react'
import { createSessionStore, type Session, sessionInFragment } from './sessionStore.ts'

const store = createSessionStore(sessionStorage)

export const { current: currentSession, signIn, signOut, refuseOffer, retryCookie, markExpired } = store

export const useSession = (): Session => useSyncExternalStore(store.subscribe, store.current)

/**
 * Offers the session of the URL's fragment, and removes it from the address bar and the history. It does not sign in: anybody
 * can make such a link.
 */
export function takeSessionFromUrl(): void {
  const sessionId = sessionInFragment(location.hash)
  if (sessionId === null) return
  history.replaceState(history.state, '', location.pathname + location.search)
  store.offer(sessionId)
}

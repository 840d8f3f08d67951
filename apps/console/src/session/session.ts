// The session of this tab, and the link that signs in.
import { useSyncExternalStore } from 'react'
import { createSessionStore, type Session, sessionInFragment } from './sessionStore.ts'

const store = createSessionStore(sessionStorage)

export const { current: currentSession, signIn, signOut, retryCookie, markExpired } = store

export const useSession = (): Session => useSyncExternalStore(store.subscribe, store.current)

/** Signs in with the session of the URL's fragment and removes it from the address bar and the history. */
export function takeSessionFromUrl(): void {
  const sessionId = sessionInFragment(location.hash)
  if (sessionId === null) return
  history.replaceState(history.state, '', location.pathname + location.search)
  signIn(sessionId)
}

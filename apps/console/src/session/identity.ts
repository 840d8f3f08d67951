// Who is signed in, and whether they may use the console.
import { queryOptions } from '@tanstack/react-query'
import { api, bodyOf } from '../api/api.ts'
import { statusOf } from '../api/apiErrors.ts'
import type { UserContext } from '../api/apiTypes.ts'

/** Whether the API takes the session from a cookie. */
export const configQuery = queryOptions({
  queryKey: ['config'],
  queryFn: async ({ signal }): Promise<{ session_cookie: boolean }> => {
    const response = await fetch('/console/config.json', { signal })
    if (!response.ok) throw new Error(`config.json: ${response.status}`)
    return response.json()
  },
  staleTime: Number.POSITIVE_INFINITY,
})

export type Identity = UserContext & { readonly isAdministrator: boolean }

/** @param sessionId null for the cookie's session */
export const identityQuery = (sessionId: string | null) =>
  queryOptions({
    queryKey: ['identity', sessionId],
    queryFn: async ({ signal }): Promise<Identity> => {
      const own = bodyOf(api.listPayments({ query: { limit: 1 }, signal }))
      const [{ user_context }, isAdministrator] = await Promise.all([own, mayUseConsole(signal)])
      return { ...user_context, isAdministrator }
    },
    staleTime: Number.POSITIVE_INFINITY,
  })

async function mayUseConsole(signal: AbortSignal): Promise<boolean> {
  try {
    await bodyOf(api.listAnyPayments({ query: { limit: 1 }, signal }))
    return true
  } catch (error) {
    if (statusOf(error) === 403) return false
    throw error
  }
}

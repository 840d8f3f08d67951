// Who is signed in, and what they may do.
import { queryOptions, useQuery } from '@tanstack/react-query'
import { api, bodyOf, dataOf } from '../api/api.ts'
import { statusOf } from '../api/apiErrors.ts'
import type { Me } from '../api/apiTypes.ts'
import { useSession } from './session.ts'

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

/** `refund_limit_cents`: of one refund, see `limitInMinorUnits`. Without rights, somebody is signed in but has no business here. */
export type Identity = Me['user'] & Pick<Me, 'rights' | 'refund_limit_cents'>

/** @param sessionId null for the cookie's session */
export const identityQuery = (sessionId: string | null) =>
  queryOptions({
    queryKey: ['identity', sessionId],
    queryFn: async ({ signal }): Promise<Identity> => {
      try {
        const { user, ...rights } = await dataOf(api.getMe({ signal }))
        return { ...user, ...rights }
      } catch (error) {
        if (statusOf(error) === 403) return await withoutRights(signal)
        throw error
      }
    },
    staleTime: Number.POSITIVE_INFINITY,
  })

async function withoutRights(signal: AbortSignal): Promise<Identity> {
  const { user_context } = await bodyOf(api.listPayments({ query: { limit: 1 }, signal }))
  const { user_id, user_email: email, user_type } = user_context
  return { id: user_id ?? '', email, user_type, rights: [], refund_limit_cents: null }
}

const nobody: Identity = { id: '', email: null, user_type: '', rights: [], refund_limit_cents: null }

/** Who is signed in. Inside the console it is always known. */
export function useIdentity(): Identity {
  const { sessionId } = useSession()
  return useQuery({ ...identityQuery(sessionId), enabled: false }).data ?? nobody
}

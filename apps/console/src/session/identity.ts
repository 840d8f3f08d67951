// Who is signed in, and what they may do.

import { rights as allRights, type Right } from '@paylog/domain/rights'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { api, bodyOf, getIfThere } from '../api/api.ts'
import { statusOf } from '../api/apiErrors.ts'
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

export type Identity = {
  readonly id: string | null
  readonly email: string | null
  readonly user_type: string
  /** None for somebody who is no administrator. */
  readonly rights: readonly Right[]
  /** The most that one refund may give back, in the minor units of a currency with two decimals; null without a limit. */
  readonly refund_limit_cents: number | null
}

type Me = {
  readonly user: Pick<Identity, 'id' | 'email' | 'user_type'>
  readonly rights: readonly Right[]
  readonly refund_limit_cents: number | null
}

/** @param sessionId null for the cookie's session */
export const identityQuery = (sessionId: string | null) =>
  queryOptions({
    queryKey: ['identity', sessionId],
    queryFn: async ({ signal }): Promise<Identity> => {
      try {
        const me = await getIfThere<Me>('/admin/me', signal)
        return me === null ? await withoutRights(signal) : { ...me.user, ...me }
      } catch (error) {
        if (statusOf(error) !== 403) throw error
        return { ...(await user(signal)), rights: [], refund_limit_cents: null }
      }
    },
    staleTime: Number.POSITIVE_INFINITY,
  })

/** An API without rights: whoever may look may do everything. */
async function withoutRights(signal: AbortSignal): Promise<Identity> {
  const [who] = await Promise.all([user(signal), bodyOf(api.listAnyPayments({ query: { limit: 1 }, signal }))])
  return { ...who, rights: allRights, refund_limit_cents: null }
}

async function user(signal: AbortSignal): Promise<Me['user']> {
  const { user_context } = await bodyOf(api.listPayments({ query: { limit: 1 }, signal }))
  return { id: user_context.user_id, email: user_context.user_email, user_type: user_context.user_type }
}

const nobody: Identity = { id: null, email: null, user_type: '', rights: [], refund_limit_cents: null }

/** Who is signed in. Inside the console it is always known. */
export function useIdentity(): Identity {
  const { sessionId } = useSession()
  return useQuery({ ...identityQuery(sessionId), enabled: false }).data ?? nobody
}

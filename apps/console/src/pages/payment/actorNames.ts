// Who acted on a payment, by name where it is known: the payer, and administrators as the audit trail names them.
import { createContext, useContext } from 'react'
import type { AuditTrailEntry } from '../../api/apiTypes.ts'
import { actorText } from './eventText.ts'

type Known = {
  readonly payerId: string | null
  readonly trail: readonly Pick<AuditTrailEntry, 'actor' | 'actor_email'>[]
}

export const ActorNames = createContext<Known>({ payerId: null, trail: [] })

/** @returns an actor of an event, after "by" */
export function useActorText(): (actor: string) => string {
  const { payerId, trail } = useContext(ActorNames)
  return (actor) => {
    if (payerId !== null && actor === `session:${payerId}`) return 'the payer'
    return trail.find((entry) => entry.actor === actor)?.actor_email ?? actorText(actor)
  }
}

// The client secrets of payments that have not ended: as long as there is one of a day, retention keeps the key of this day.
import type { Recorded } from '@paylog/event-store/codec/codec'

/** How events change the list. No payment is in both. */
export type SecretChanges = {
  readonly opened: readonly { readonly subject: string; readonly key_id: string }[]
  /** The streams of payments that have ended. */
  readonly ended: readonly string[]
}

/** @param events in log order */
export function secretChangesOf(events: readonly Recorded[]): SecretChanges {
  const opened = new Map<string, Set<string>>()
  const ended = new Set<string>()
  for (const { type, stream, sealed } of events) {
    if (type === 'PaymentSucceeded' || type === 'PaymentCanceled') {
      ended.add(stream)
      opened.delete(stream)
    }
    // The key of the day is the last one: the first one is the subject's.
    const dayKey = sealed.secret?.at(-1)
    // A setup intent is not followed: its secret is kept for two days.
    if (type !== 'ProviderIntentCreated' || dayKey === undefined || ended.has(stream)) continue
    opened.set(stream, (opened.get(stream) ?? new Set()).add(dayKey))
  }
  return {
    opened: [...opened].flatMap(([subject, keys]) => [...keys].map((key_id) => ({ subject, key_id }))),
    ended: [...ended],
  }
}

/** @param parameters placeholders for the changes as JSON and as an array; `moved` is a row while the checkpoint is right */
export const changeSecretsSql = (parameters: { readonly opened: string; readonly ended: string }) => `
opened_secrets as (
  insert into webhooks.open_secrets (subject, key_id)
  select s.subject, s.key_id
  from moved, json_to_recordset(${parameters.opened}::json) as s (subject text, key_id uuid)
  on conflict do nothing
), ended_secrets as (
  delete from webhooks.open_secrets s using moved where s.subject = any(${parameters.ended}::text[])
)`

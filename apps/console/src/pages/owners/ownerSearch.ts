import { textsOf } from '../../search.ts'

/** The owner whose things are shown. */
export const ownerSearch = (search: Record<string, unknown>) => textsOf(search, ['user_id', 'guest_email'])

export type Owner = { readonly user_id: string } | { readonly guest_email: string }

/** The user counts when both are given. */
export function ownerOf({ user_id, guest_email }: ReturnType<typeof ownerSearch>): Owner | null {
  if (user_id !== undefined) return { user_id }
  return guest_email === undefined ? null : { guest_email }
}

export const ownerText = (owner: Owner): string => ('user_id' in owner ? `User ${owner.user_id}` : owner.guest_email)

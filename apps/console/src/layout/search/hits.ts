// What the search offers for a text, without asking the API.
import type { LinkProps } from '@tanstack/react-router'
import type { IconName } from '../../parts/Icon.tsx'
import { type MenuPage, navigation } from '../navigation.ts'

export type Hit = {
  readonly key: string
  readonly icon: IconName
  readonly label: string
  /** In a word, what the hit is. */
  readonly kind: string
  readonly link: LinkProps
}

/** A beginning of an id tells ids apart from this length on: those of one minute share eight characters. */
const minIdLength = 13

/** What a text may be: our ids are UUIDs, and may be given by their beginning. */
export function kindOf(text: string): 'id' | 'e-mail' | 'words' {
  if (text.length >= minIdLength && /^[0-9a-f]{8}-[0-9a-f-]{4,27}$/i.test(text)) return 'id'
  return /^\S+@\S+$/.test(text) ? 'e-mail' : 'words'
}

export const isWholeId = (text: string): boolean => kindOf(text) === 'id' && text.length === 36

/** The pages whose name, or a word of it, begins with the text; all of them without a text. */
export function pageHits(text: string, mayOpen: (path: string) => boolean): Hit[] {
  const wanted = text.toLowerCase()
  return navigation
    .flatMap<MenuPage>(({ pages }) => pages)
    .filter(
      ({ to, label }) =>
        mayOpen(to) &&
        label
          .toLowerCase()
          .split(' ')
          .some((word) => word.startsWith(wanted)),
    )
    .map(({ to, label, icon }) => ({ key: to, icon, label, kind: 'Page', link: { to } }))
}

/** What can be opened with the text as it is: a customer, and the list of payments. */
export function directHits(text: string, mayOpen: (path: string) => boolean): Hit[] {
  if (text === '') return []
  const hits: Hit[] = []
  // The id may also be one of a user, which only the page of the customer can tell.
  if ((kindOf(text) === 'e-mail' || isWholeId(text)) && mayOpen('/customers/$id'))
    hits.push({
      key: 'customer',
      icon: 'customers',
      label: text,
      kind: 'Customer',
      link: { to: '/customers/$id', params: { id: text } },
    })
  if (mayOpen('/payments'))
    hits.push({
      key: 'search',
      icon: 'search',
      label: `Payments with “${text}”`,
      kind: 'Search',
      link: { to: '/payments', search: { search: text } },
    })
  return hits
}

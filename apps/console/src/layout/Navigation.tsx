// The menu, without the pages that the signed-in administrator may not open.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { attentionQuery } from '../api/frameQueries.ts'
import { Icon } from '../parts/Icon.tsx'
import { useMay } from '../session/rights.ts'
import { type MenuPage, navigation } from './navigation.ts'
import { useMayOpen } from './pageRights.tsx'

export function Navigation() {
  const mayOpen = useMayOpen()
  return (
    <nav aria-label="Console" className="navigation">
      {navigation.map(({ name, pages }) => {
        const open = pages.filter(({ to }) => mayOpen(to))
        return (
          open.length > 0 && (
            <ul key={name} aria-label={name}>
              {open.map((page) => (
                <li key={page.to}>
                  <MenuLink page={page} />
                </li>
              ))}
            </ul>
          )
        )
      })}
    </nav>
  )
}

function MenuLink({ page: { to, label, icon } }: { readonly page: MenuPage }) {
  return (
    <Link to={to} activeOptions={{ exact: to === '/', includeSearch: false }}>
      <Icon name={icon} />
      {label}
      {to === '/' && <AttentionCount />}
    </Link>
  )
}

/** How many things need attention; nothing when there are none. */
function AttentionCount() {
  const may = useMay()
  const { data } = useQuery({ ...attentionQuery, enabled: may('listAttention') })
  const count = data?.length ?? 0
  if (count === 0) return null
  return (
    <span className="menuCount">
      {count.toLocaleString()}
      <span className="srOnly"> {count === 1 ? 'needs' : 'need'} attention</span>
    </span>
  )
}

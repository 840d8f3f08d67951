// What every page has around it: skip link, navigation, preferences, sign-out.
import { Burger, Drawer } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Link, Outlet, useRouterState } from '@tanstack/react-router'
import { useEffect } from 'react'
import { navigation } from './navigation.ts'
import { ReaderSettings } from './ReaderSettings.tsx'

export function Shell() {
  const [isOpen, { toggle, close }] = useDisclosure(false)
  const path = useRouterState({ select: ({ location }) => location.pathname })
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new page closes the menu.
  useEffect(close, [path])
  return (
    <div className="shell">
      <a className="skipLink" href="#main">
        Skip to the content
      </a>
      <nav className="topBar" aria-label="Menu">
        <Burger
          opened={isOpen}
          onClick={toggle}
          size="sm"
          aria-label="Menu"
          aria-expanded={isOpen}
          className="burger"
        />
        <Link to="/" className="brand">
          Paylog
        </Link>
      </nav>
      <aside className="sideBar">
        <Link to="/" className="brand">
          Paylog
        </Link>
        <Navigation />
        <ReaderSettings />
      </aside>
      <Drawer
        opened={isOpen}
        onClose={close}
        title="Paylog"
        size="260px"
        closeButtonProps={{ 'aria-label': 'Close the menu' }}
      >
        <div className="drawerMenu">
          <Navigation />
          <ReaderSettings />
        </div>
      </Drawer>
      <main id="main" tabIndex={-1}>
        <Outlet />
      </main>
    </div>
  )
}

function Navigation() {
  return (
    <nav aria-label="Console">
      <ul className="navigation">
        {navigation.map(({ to, label }) => (
          <li key={to}>
            <Link to={to} activeOptions={{ exact: to === '/', includeSearch: false }}>
              {label}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  )
}

// What every page has around it: skip link, menu, search, account.
import { ActionIcon, Burger, Drawer, UnstyledButton } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Outlet, useRouterState } from '@tanstack/react-router'
import { useEffect } from 'react'
import { Icon } from '../parts/Icon.tsx'
import { Account } from './Account.tsx'
import { Brand } from './Brand.tsx'
import { ModeSign } from './ModeSign.tsx'
import { Navigation } from './Navigation.tsx'
import { PageRights } from './pageRights.tsx'
import { SearchDialog, useSearchDialog } from './search/SearchDialog.tsx'

export function Shell() {
  const [isOpen, { toggle, close }] = useDisclosure(false)
  const search = useSearchDialog()
  const path = useRouterState({ select: ({ location }) => location.pathname })
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new page closes the menu.
  useEffect(close, [path])
  return (
    <div className="shell">
      <a className="skipLink" href="#main">
        Skip to the content
      </a>
      <header className="topBar">
        <Burger opened={isOpen} onClick={toggle} size="sm" aria-label="Menu" aria-expanded={isOpen} />
        <Brand />
        <ModeSign />
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label="Go to…" onClick={search.open}>
          <Icon name="search" size={20} />
        </ActionIcon>
      </header>
      <aside className="sideBar" aria-label="Menu and account">
        <div className="brandRow">
          <Brand />
          <ModeSign />
        </div>
        <UnstyledButton className="searchButton" onClick={search.open}>
          <Icon name="search" />
          Go to…{' '}
          <span className="keyHint" aria-hidden="true">
            /
          </span>
        </UnstyledButton>
        <Navigation />
        <Account />
      </aside>
      <Drawer
        opened={isOpen}
        onClose={close}
        title="Paylog"
        size="280px"
        closeButtonProps={{ 'aria-label': 'Close the menu' }}
      >
        <div className="drawerMenu">
          <Navigation />
          <Account />
        </div>
      </Drawer>
      <main id="main" tabIndex={-1}>
        <PageRights>
          <Outlet />
        </PageRights>
      </main>
      <SearchDialog {...search} />
    </div>
  )
}

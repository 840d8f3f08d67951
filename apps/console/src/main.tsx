// Starts the console in the page.
import './layout/mantineStyles.ts'
import './styles/tokens.css'
import './styles/base.css'
import './styles/frame.css'
import './styles/tables.css'
import './styles/parts.css'
import './styles/pages.css'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './App.tsx'
import { takeSessionFromUrl } from './session/session.ts'

// Before anything else reads or records the URL.
takeSessionFromUrl()
addEventListener('hashchange', takeSessionFromUrl)

const root = document.getElementById('root')
if (root === null) throw new Error('The page has no element for the console')
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
